#ifndef MSD_ONNX_EMIT_H
#define MSD_ONNX_EMIT_H
/*
 * An ONNX model under construction from a graph. Everything in the messages lives
 * until the writer ends; bytes of weights stay the graph's. Check `bad` for short
 * memory once, at the end; until that check functions may return NULL, and all
 * functions accept it.
 */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/names.h"

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
	struct onnx_list props;  /* of the model */
	char **names;            /* one for each tensor of the graph, unique */
	size_t n_made;           /* number of generated names */
	struct msd_names called; /* names of written nodes */
	struct msd_names taken;  /* names of tensors; the outermost emit has those of
				     all graphs */
	struct onnx_emit *outer; /* emit of the enclosing graph; NULL if absent */
	char **given; /* for each captured input its name in the enclosing graph, NULL
			 for own inputs; NULL: all are own */
	struct onnx_list within; /* onnx_emit of subgraphs */
	bool has_shapes;         /* inference of this graph succeeded */
	bool bad;
};

/** Allocate @n zeroed bytes that live as long as the writer. */
void *onnx_emit_alloc(struct onnx_emit *e, size_t n);
char *onnx_emit_text(struct onnx_emit *e, const char *text);
/** Append to a list of messages. */
void onnx_emit_push(struct onnx_emit *e, struct onnx_list *list, void *item);
/** True if a tensor of any of the model's graphs has this name. */
bool onnx_emit_is_taken(struct onnx_emit *e, const char *name);
/** Copy @name, which must be free, and mark it as used. */
char *onnx_emit_keep(struct onnx_emit *e, const char *name);
/** Generate a name that no tensor has. */
char *onnx_emit_name(struct onnx_emit *e, const char *stem);
void onnx_emit_finish(struct onnx_emit *e);

/** Declare the version of @domain; @domain outlives the writer. */
void onnx_emit_domain(struct onnx_emit *e, const char *domain, int64_t version);
/** Append a node, the next in execution order; @name is changed if it is in use. */
Onnx__NodeProto *onnx_emit_node(struct onnx_emit *e, const char *op, const char *name);
/** Append an input or output by name; "" omits it. */
void onnx_emit_in(struct onnx_emit *e, Onnx__NodeProto *node, char *name);
void onnx_emit_out(struct onnx_emit *e, Onnx__NodeProto *node, char *name);
void onnx_emit_int(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		   int64_t value);
void onnx_emit_float(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     float value);
/** Set a text; several words become a list of texts. */
void onnx_emit_string(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const char *value, bool is_list);
void onnx_emit_ints(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		    const int64_t *values, size_t n);
void onnx_emit_floats(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		      const float *values, size_t n);
void onnx_emit_graph(struct onnx_emit *e, Onnx__NodeProto *node, const char *name,
		     Onnx__GraphProto *value);
/**
 * Create the emit for the subgraph @g of a node; it lives as long as @e. NULL: memory
 * is short.
 */
struct onnx_emit *onnx_emit_within(struct onnx_emit *e, modser_graph *g);
/**
 * Add an initializer from a list of int64, or from one float, and return its name.
 * The values are copied.
 */
char *onnx_emit_list(struct onnx_emit *e, const int64_t *values, size_t n);
char *onnx_emit_scalar(struct onnx_emit *e, float value);
/** The same from one int64, and from floats of @n extents. */
char *onnx_emit_scalar_int(struct onnx_emit *e, int64_t value);
char *onnx_emit_singles(struct onnx_emit *e, const float *values, const int64_t *dims,
			size_t n);

#endif
