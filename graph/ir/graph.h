#ifndef MSD_GRAPH_IR_GRAPH_H
#define MSD_GRAPH_IR_GRAPH_H
/*
 * What the public names of modser_graph.h stand for. The graph owns everything here;
 * pointers between its parts live as long as it does.
 */
#include "graph/ir/attr.h"
#include "graph/modser_graph.h"
#include "proto/bytes.h"
#include "proto/diag.h"
#include "proto/dtype.h"

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
	bool has_dtype; /* a file, a caller or an inference has said it */
	bool is_nhwc;
	int ndim; /* -1: the shape is not known */
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	char **dim_names; /* one each, NULL where there is none; NULL: none at all */
	struct msd_sg_quant *quants;
	size_t n_quants;
	modser_sg_node *producer; /* the first that said so */
	uint64_t bytes;           /* of a constant */
	const void *data;         /* of a constant, or NULL: not here */
	void (*release)(void *data);
	const void *value; /* of a variable: its bytes while a run knows them */
	bool is_stripped;  /* its bytes were taken out, and that is all right */
	bool has_location;
	uint64_t offset; /* where it stands in the graph's file */
};

struct modser_sg_op {
	modser_graph *graph;
	const modser_sg_op_schema *schema;
	modser_sg_node *node;   /* whose it is; NULL: nobody's yet */
	modser_sg_attr *params; /* schema->n_fields of them */
	struct msd_sg_attrs attrs;
};

struct modser_sg_node {
	modser_graph *graph;
	size_t index;
	size_t number; /* its index in the file, by which texts call it */
	char *name;
	modser_sg_op *op; /* NULL: none yet, or it was taken out */
	modser_sg_tensor **inputs;
	size_t n_inputs;
	modser_sg_tensor **outputs;
	size_t n_outputs;
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
	struct msd_buf *files; /* that constants point into */
	size_t n_files;
	modser_read_beside *read_beside; /* for its load; NULL: there are none */
	void *beside_ctx;
	modser_graph *parent; /* whose attribute this graph is; NULL: nobody's */
	unsigned depth;       /* of the graphs within, 0: there are none */
	struct msd_diag diag;
};

/** Say why a function fails on @g. Returns -1. */
int msd_sg_fail(modser_graph *g, msd_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int msd_sg_no_memory(modser_graph *g);              /* the same, returns -1 */
int msd_sg_null(modser_graph *g, const char *what); /* the same: @what is NULL */
/** Give @node the operator @op of its graph, which no other node has; NULL: none. */
void msd_sg_node_take_op(modser_sg_node *node, modser_sg_op *op);
/** Room for one more of @n elements of @size bytes in *@list, which grows by doubling.
 * False: memory is short, and nothing has changed. */
MSD_MUST_CHECK bool msd_sg_grow(void *list, size_t n, size_t size);
/** @text can be a name: programs of other languages, and the wire, have it as text. */
bool msd_sg_is_name(const char *text);
/** A copy of @n bytes with a NUL behind them; NULL: memory is short. */
char *msd_sg_copy(const char *text, size_t n);
/** Let @g own @file, whose bytes constants may point into. It is emptied on success. */
MSD_MUST_CHECK int msd_sg_take_file(modser_graph *g, struct msd_buf *file);
/** Let @child be an attribute of @g: -1 when it is somebody's, or too deep. */
MSD_MUST_CHECK int msd_sg_take_graph(modser_graph *g, modser_graph *child);
/** @t is of @dtype, which has one lane. */
void msd_sg_tensor_take_dtype(modser_sg_tensor *t, struct msd_dtype dtype);
/** Bytes that @t has by its shape and dtype; false while they are not known, or do not
 * fit. */
MSD_MUST_CHECK bool msd_sg_tensor_bytes(const modser_sg_tensor *t, uint64_t *ret);

/** Has @node, which has an operator, as many inputs and outputs as that takes? -1 with
 * the graph's error. */
MSD_MUST_CHECK int msd_sg_check_ends(const modser_sg_node *node);

/** Does @node compute nothing: is its output a constant, or what a caller gives? */
bool msd_sg_node_is_given(const modser_sg_node *node);
void msd_sg_tensor_destroy(modser_sg_tensor *t); /* NULL is fine */
void msd_sg_node_destroy(modser_sg_node *node);
void msd_sg_op_destroy(modser_sg_op *op);

#endif
