#ifndef MSD_MXNET_LAYER_H
#define MSD_MXNET_LAYER_H
/*
 * One node of a symbol while it is read: its attributes, its inputs, its outputs. A
 * symbol has no shapes, so the extents of inputs are open and most shapes follow only
 * in a call. Only the number of dimensions is known, and not always.
 */
#include <jansson.h>

#include "graph/modser_graph.h"
#include "graph/serializer/build/build.h"

struct mxnet_value {
	modser_sg_tensor *t; /* NULL: nothing made it */
	int ndim;            /* -1: not known */
};

struct mxnet_node {
	const char *op;
	const char *name;
	json_t *attrs[3]; /* objects or NULL; the first that has a name counts */
	json_t *inputs;
	struct mxnet_value *out;
	size_t n_out;
};

struct mxnet_layer {
	struct msd_build b;
	const struct mxnet_node *node;
	const struct mxnet_node *const *from; /* nodes that make the inputs */
	struct mxnet_value *in;
	size_t n_in;
	const struct mxnet_row *row;
	int ndim; /* of the outputs; that of input 0 if the row does not set it */
};

/* How an operator is read. */
struct mxnet_row {
	const char *name; /* of MXNet */
	unsigned min_in, max_in;
	/* Returns the only output that other nodes read, or NULL with the error. */
	modser_sg_tensor *(*one)(struct mxnet_layer *x);
	/* Returns the outputs, at most @max, and sets their number; 0 is a failure. */
	size_t (*many)(struct mxnet_layer *x, modser_sg_tensor **ret, size_t max);
	const char *op; /* for functions of several rows */
	int64_t type;
	int label; /* an input that only training has; 0: none */
};
#define MXNET_MANY 0xffffu
#define MXNET_MAX_OUT 64u

/* Tables of rows, each ended by a row without a name. */
extern const struct mxnet_row mxnet_rows_element[];
extern const struct mxnet_row mxnet_rows_array[];
extern const struct mxnet_row mxnet_rows_detect[];
extern const struct mxnet_row mxnet_rows_layer[];
extern const struct mxnet_row mxnet_rows_move[];
extern const struct mxnet_row mxnet_rows_reduce[];
extern const struct mxnet_row mxnet_rows_recurrent[];
/** The row of operator @name; NULL if there is none. */
const struct mxnet_row *mxnet_row_find(const char *name);
/** Row @i of all; NULL if there are fewer. */
const struct mxnet_row *mxnet_row_at(size_t i);

/** Record why the node cannot be read. Returns NULL. */
modser_sg_tensor *mxnet_fail(const struct mxnet_layer *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** The text of attribute @name; NULL: the node has none. "None" counts as none. */
const char *mxnet_attr(const struct mxnet_node *node, const char *name);
/** True if attribute @name is @text, or absent and @text is @otherwise. */
bool mxnet_is(const struct mxnet_layer *x, const char *name, const char *text,
	      const char *otherwise);
bool mxnet_bool(const struct mxnet_layer *x, const char *name, bool otherwise);
/** False with the error of the graph: it is no number. */
MSD_MUST_CHECK bool mxnet_int(const struct mxnet_layer *x, const char *name,
			      int64_t otherwise, int64_t *ret);
MSD_MUST_CHECK bool mxnet_float(const struct mxnet_layer *x, const char *name,
				double otherwise, double *ret);
#define MXNET_NONE INT64_MIN /* an element "None" of a list */
#define MXNET_MAX_LIST MODSER_GRAPH_MAX_NDIM
/** Read a list "(1, 2)" or one number; no attribute is an empty list. */
MSD_MUST_CHECK bool mxnet_list(const struct mxnet_layer *x, const char *name,
			       int64_t ret[static MXNET_MAX_LIST], size_t *ret_n);
/** The same of a node before it is read. False: it is invalid. */
MSD_MUST_CHECK bool mxnet_list_of(const struct mxnet_node *node, const char *name,
				  int64_t ret[static MXNET_MAX_LIST], size_t *ret_n);

/** @t with the element type @dtype. */
modser_sg_tensor *mxnet_cast(const struct mxnet_layer *x, modser_sg_tensor *t,
			     const char *dtype);
/** A node of @op with a list of axes. */
modser_sg_tensor *mxnet_with_axes(const struct mxnet_layer *x, const char *op,
				  modser_sg_tensor *t, const int64_t *axes, size_t n);
/** @t with two of its @n axes exchanged. */
modser_sg_tensor *mxnet_swap(const struct mxnet_layer *x, modser_sg_tensor *t, size_t n,
			     size_t a, size_t b);

#endif
