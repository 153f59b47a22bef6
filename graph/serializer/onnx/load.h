#ifndef MSD_ONNX_LOAD_H
#define MSD_ONNX_LOAD_H
/* An ONNX model on its way into a graph; what the rows of operators are written with.
 */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/onnx/names.h"
#include "proto/bytes.h"

/* Versions of operators, a domain each. */
struct onnx_imports {
	Onnx__OperatorSetIdProto **list;
	size_t n;
	const struct onnx_imports *around; /* for what is not in the list; NULL: none */
};

struct onnx_load {
	modser_graph *g;
	const struct onnx_functions *functions; /* of the model */
	struct msd_span file;                   /* that weights point into */
	struct onnx_external *external;         /* where others are */
	const struct onnx_imports *imports;     /* that hold here */
	int64_t opset; /* of the operators without a domain, as those say it */
	struct onnx_names names;
	size_t n_inferred; /* nodes whose shapes were looked for */
	struct onnx_load
		*outer; /* of the graph around this one; NULL: it is the model's */
	modser_sg_tensor *
		*captured; /* of the outer graph, for the last inputs of this */
	size_t n_captured;
	const struct onnx_call *call; /* whose body this is; NULL: of none */
	size_t *left;                 /* bytes that calls may still add */
	size_t depth;                 /* graphs and calls around this one */
};

struct onnx_node {
	struct onnx_load *l;
	const Onnx__NodeProto *proto;
	size_t index;         /* in the file */
	modser_sg_node *node; /* with its inputs; NULL for rows without an operator */
	modser_sg_op *op;     /* with its defaults and what the attributes say */
};

/** What the file says; "" for what it leaves out. */
static inline const char *onnx_text(const char *text)
{
	return text != NULL ? text : "";
}

/** Say why @n cannot be read. Returns -1. */
int onnx_fail(const struct onnx_node *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Attribute @name, which is of @type (onnx_attr_type); NULL: it is not there. */
const Onnx__AttributeProto *onnx_attr(const struct onnx_node *n, const char *name);
/** The value of an attribute; @otherwise when it is not there. */
int64_t onnx_attr_int(const struct onnx_node *n, const char *name, int64_t otherwise);
bool onnx_attr_is(const struct onnx_node *n, const char *name, const char *text);

/** Set a parameter of the node's operator. */
MSD_MUST_CHECK int onnx_set_int(const struct onnx_node *n, const char *param,
				int64_t value);
MSD_MUST_CHECK int onnx_set_ints(const struct onnx_node *n, const char *param,
				 const int64_t *values, size_t count);
MSD_MUST_CHECK int onnx_set_text(const struct onnx_node *n, const char *param,
				 const char *text);

/** Set text parameter @param to the name of the element type that attribute @attr has;
 * without the attribute it is left as it is. */
MSD_MUST_CHECK int onnx_set_dtype(const struct onnx_node *n, const char *attr,
				  const char *param);

/** Let a constant be input @k of the node: of @dtype and @n_dims extents. The bytes are
 * copied. */
MSD_MUST_CHECK int onnx_add_constant(const struct onnx_node *n, size_t k,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes);
/** The same of a list of int64. */
MSD_MUST_CHECK int onnx_add_ints(const struct onnx_node *n, size_t k,
				 const int64_t *values, size_t count);
/** Dimensions of input @i as far as its shape can be told now, else -1. */
int onnx_input_ndim(const struct onnx_node *n, size_t i);

/** Let a new node of operator @op, whose parameter @param is a list, stand between
 * input @input and the node. */
MSD_MUST_CHECK int onnx_insert(const struct onnx_node *n, size_t input, const char *op,
			       const char *param, const int64_t *values, size_t count);

#endif
