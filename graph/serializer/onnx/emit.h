#ifndef MSD_ONNX_EMIT_H
#define MSD_ONNX_EMIT_H
/*
 * An ONNX model as it is put together from a graph. All that the messages hold lives
 * until the writer ends; bytes of weights stay the graph's. Memory that was short shows
 * in `bad`, once, at the end; functions that give an object may then give NULL, which
 * all take.
 */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/onnx/names.h"

struct onnx_list {
	void **items;
	size_t n;
};

struct onnx_emit {
	modser_graph *g;
	struct onnx_list blocks;
	struct onnx_list nodes;
	struct onnx_list initializers;
	struct onnx_list inputs;
	struct onnx_list outputs;
	struct onnx_list opsets;
	char **names;             /* of the graph's tensors, each its own */
	size_t n_made;            /* names that were made up */
	struct onnx_names called; /* names of nodes that were written */
	struct onnx_names taken; /* names of tensors, of the outermost for all graphs */
	struct onnx_emit *outer; /* of the graph around this one; NULL: there is none */
	char **given; /* for each input its name out there, NULL for those that are its
			 own; NULL: all are */
	struct onnx_list within; /* onnx_emit of graphs in nodes */
	bool has_shapes;         /* inference of this graph found nothing wrong */
	bool bad;
};

/** @n zeroed bytes that live as long as the writer. */
void *onnx_emit_alloc(struct onnx_emit *e, size_t n);
char *onnx_emit_text(struct onnx_emit *e, const char *text);
/** Append to a list of messages. */
void onnx_emit_push(struct onnx_emit *e, struct onnx_list *list, void *item);
/** Has a tensor, of this or another of the model's graphs, this name? */
bool onnx_emit_is_taken(struct onnx_emit *e, const char *name);
/** A copy of @name, which was not taken, and is now. */
char *onnx_emit_keep(struct onnx_emit *e, const char *name);
/** A name that no tensor has. */
char *onnx_emit_name(struct onnx_emit *e, const char *stem);
void onnx_emit_finish(struct onnx_emit *e);

/** Operators of @domain, which outlives the writer, are of this version of it. */
void onnx_emit_domain(struct onnx_emit *e, const char *domain, int64_t version);
/** A node, the next in the order in which they run; @name is made another when it is
 * taken. */
Onnx__NodeProto *onnx_emit_node(struct onnx_emit *e, const char *op, const char *name);
/** An input or output by its name; "": it is left out. */
void onnx_emit_in(struct onnx_emit *e, Onnx__NodeProto *node, char *name);
void onnx_emit_out(struct onnx_emit *e, Onnx__NodeProto *node, char *name);
void onnx_emit_int(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		   int64_t value);
void onnx_emit_float(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     float value);
/** A text; one of several words is a list of texts. */
void onnx_emit_string(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const char *value, bool is_list);
void onnx_emit_ints(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		    const int64_t *values, size_t n);
void onnx_emit_floats(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const float *values, size_t n);
void onnx_emit_graph(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     Onnx__GraphProto *value);
/** For @g, a graph within a node; it lives as long as @e. NULL: memory is short. */
struct onnx_emit *onnx_emit_within(struct onnx_emit *e, modser_graph *g);
/** A new initializer's name, of a list of int64, or of one float, which are copied. */
char *onnx_emit_list(struct onnx_emit *e, const int64_t *values, size_t n);
char *onnx_emit_scalar(struct onnx_emit *e, float value);

#endif
