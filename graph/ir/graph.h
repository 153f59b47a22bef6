#ifndef MSD_GRAPH_IR_GRAPH_H
#define MSD_GRAPH_IR_GRAPH_H
/* Definitions of the opaque types of modser_graph.h. The graph owns everything here;
 * pointers between its parts live as long as it does. */
#include "graph/ir/attr.h"
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_sg_default;

struct msd_sg_quant {
	float scale;
	int32_t zero_point;
};

struct modser_sg_tensor {
	modser_graph *graph;
	size_t index;
	char *name;
	modser_sg_tensor_type type;
	struct msd_dtype dtype; /* float32 until it is known */
	char dtype_name[MSD_DTYPE_NAME_MAX];
	bool has_dtype; /* set by a file, a caller or an inference */
	bool is_nhwc;
	int ndim; /* -1: the shape is not known */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	char **dim_names; /* one each, NULL if unnamed; NULL if all are */
	struct msd_sg_quant *quants;
	size_t n_quants;
	modser_sg_node *producer; /* the first producer */
	uint64_t bytes;           /* size of a constant */
	const void *data;         /* constant data, or NULL if not loaded */
	void (*release)(void *data);
	const void *value; /* variable: its bytes while a run knows them */
	bool is_default;   /* constant: it is one of the graph's defaults */
	bool is_stripped;  /* its bytes were stripped on purpose */
	bool has_location;
	uint64_t offset; /* offset in the graph's file */
};

struct modser_sg_op {
	modser_graph *graph;
	const modser_sg_op_schema *schema;
	modser_sg_node *node;   /* its node; NULL if it has none yet */
	modser_sg_attr *params; /* schema->n_fields entries */
	struct msd_sg_attrs attrs;
};

/* A node that a pass made a part of another one. */
struct msd_sg_merged {
	char *name;
	const char *op; /* its operator; lives as long as the operators */
	size_t number;  /* as of a node */
};

struct modser_sg_node {
	modser_graph *graph;
	size_t index;
	size_t number; /* index in the file, shown in texts */
	char *name;
	modser_sg_op *op; /* NULL: none yet, or it was removed */
	modser_sg_tensor **inputs;
	size_t n_inputs;
	modser_sg_tensor **outputs;
	size_t n_outputs;
	struct msd_sg_merged *merged; /* in the order of the merges, for texts */
	size_t n_merged;
};

/* An operator of the file that a graph was read from. */
struct msd_sg_source {
	char *op; /* its name there */
	size_t n; /* number of nodes, also in subgraphs */
};

struct modser_graph {
	char *facts[MODSER_GRAPH_FACT_COUNT]; /* NULL: never set */
	struct msd_sg_attrs attrs;
	modser_sg_node **nodes;
	size_t n_nodes;
	modser_sg_tensor **tensors;
	size_t n_tensors;
	modser_sg_op **ops;
	size_t n_ops;
	modser_sg_tensor **inputs;
	size_t n_inputs;
	modser_sg_tensor **outputs;
	size_t n_outputs;
	struct msd_sg_default *defaults; /* in the order of the file */
	size_t n_defaults;
	bool opens_defaults;   /* set before a load: they are the last inputs, and
				  nodes read these */
	struct msd_buf *files; /* constants point into them */
	size_t n_files;
	modser_read_beside *read_beside; /* for its load; NULL if absent */
	void *beside_ctx;
	struct msd_sg_source *sources; /* in the order of the file */
	size_t n_sources;
	const void *reading; /* state of the load that fills it, for its methods */
	modser_graph
		*parent; /* the graph with this graph as an attribute; NULL if none */
	unsigned depth;  /* nesting depth of subgraphs, 0 without any */
	struct msd_diag diag;
};

/** Record the error of a function on @g. Returns -1. */
int msd_sg_fail(modser_graph *g, msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** Copy the error of @g to @d. Returns its code. */
msd_err msd_sg_error(const modser_graph *g, struct msd_diag *d);
/**
 * Count a node of the file: operator @op of @domain ("": none), which the format
 * knows. 0, or -1: memory is short.
 */
MSD_MUST_CHECK int msd_sg_count_source(modser_graph *g, const char *domain,
				       const char *op);
void msd_sg_sources_finish(modser_graph *g);
int msd_sg_no_memory(modser_graph *g);              /* the same, returns -1 */
int msd_sg_null(modser_graph *g, const char *what); /* the same: @what is NULL */
/**
 * Give @node the operator @op of the same graph, which no other node has; NULL: no
 * operator.
 */
void msd_sg_node_take_op(modser_sg_node *node, modser_sg_op *op);
/** True if @text is valid as a name: other languages and the wire treat it as text. */
bool msd_sg_is_name(const char *text);
/** Copy @n bytes and append a NUL; NULL: memory is short. */
char *msd_sg_copy(const char *text, size_t n);
/** Let @g own @file; constants may point into its bytes. @file is empty on success. */
MSD_MUST_CHECK int msd_sg_take_file(modser_graph *g, struct msd_buf *file);
/**
 * Make @child an attribute of @g. -1: @child has a parent already, or the nesting is
 * too deep.
 */
MSD_MUST_CHECK int msd_sg_take_graph(modser_graph *g, modser_graph *child);
/** Set the dtype of @t to @dtype, which has one lane. */
void msd_sg_tensor_take_dtype(modser_sg_tensor *t, struct msd_dtype dtype);
/**
 * Compute the bytes of @t from its shape and dtype; false if they are unknown or
 * overflow.
 */
MSD_MUST_CHECK bool msd_sg_tensor_bytes(const modser_sg_tensor *t, uint64_t *ret);

/**
 * Check the number of inputs and outputs of @node, which has an operator. -1 with the
 * graph's error.
 */
MSD_MUST_CHECK int msd_sg_check_ends(const modser_sg_node *node);

/** True if @node computes nothing: its output is a constant or an input. */
bool msd_sg_node_is_given(const modser_sg_node *node);
/** Create a tensor that @g does not list. NULL: the graph has the error. */
modser_sg_tensor *msd_sg_tensor_new(modser_graph *g, const char *name);
void msd_sg_tensor_destroy(modser_sg_tensor *t); /* NULL is allowed */
void msd_sg_node_destroy(modser_sg_node *node);
void msd_sg_op_destroy(modser_sg_op *op);

#endif
