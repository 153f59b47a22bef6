#ifndef MSD_ONNX_LOAD_H
#define MSD_ONNX_LOAD_H
/* State of reading an ONNX model into a graph; helpers for the rows of operators. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/names.h"
#include "proto/base/bytes.h"

/* Versions of operators, one for each domain. */
struct onnx_imports {
	Onnx__OperatorSetIdProto **list;
	size_t n;
	const struct onnx_imports
		*around; /* for domains not in the list; NULL if absent */
};

struct onnx_load {
	modser_graph *g;
	const struct onnx_functions *functions; /* the model's functions */
	struct msd_span file;                   /* weights point into it */
	struct onnx_external *external;         /* location of external weights */
	const struct onnx_imports *imports;     /* valid here */
	int64_t opset; /* version for operators without a domain, from the imports */
	bool has_defaults; /* initializers that are inputs, too, are defaults */
	struct msd_names names;
	size_t n_inferred; /* nodes with attempted inference */
	struct onnx_load
		*outer; /* state of the enclosing graph; NULL for the model's */
	modser_sg_tensor **captured; /* tensors in the outer graph for the last inputs
					of this graph */
	size_t n_captured;
	const struct onnx_call *call; /* the call whose body this is; NULL if none */
	size_t *left;                 /* bytes that calls may still add */
	size_t depth;                 /* enclosing graphs and calls */
};

struct onnx_node {
	struct onnx_load *l;
	const Onnx__NodeProto *proto;
	size_t index;         /* in the file */
	modser_sg_node *node; /* with its inputs; NULL for rows without an operator */
	modser_sg_op *op;     /* with its defaults and the values of attributes */
	size_t n_outputs; /* outputs that the node makes: the first ones of the file;
			       inserted nodes make the others */
};

/** The text in the file; "" if absent. */
static inline const char *onnx_text(const char *text)
{
	return text != NULL ? text : "";
}

/** Record why @n cannot be read. Returns -1. */
int onnx_fail(const struct onnx_node *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Attribute @name, which is of @type (onnx_attr_type); NULL if absent. */
const Onnx__AttributeProto *onnx_attr(const struct onnx_node *n, const char *name);
/** The value of an attribute; @otherwise if absent. */
int64_t onnx_attr_int(const struct onnx_node *n, const char *name, int64_t otherwise);
bool onnx_attr_is(const struct onnx_node *n, const char *name, const char *text);

/** Set a parameter of the node's operator. */
MSD_MUST_CHECK int onnx_set_int(const struct onnx_node *n, const char *param,
				int64_t value);
MSD_MUST_CHECK int onnx_set_ints(const struct onnx_node *n, const char *param,
				 const int64_t *values, size_t count);
MSD_MUST_CHECK int onnx_set_text(const struct onnx_node *n, const char *param,
				 const char *text);

/**
 * Set text parameter @param to the name of the element type in attribute @attr;
 * unchanged if the attribute is absent.
 */
MSD_MUST_CHECK int onnx_set_dtype(const struct onnx_node *n, const char *attr,
				  const char *param);

/**
 * Set a constant as input @k of the node: of @dtype and @n_dims extents. The bytes
 * are copied.
 */
MSD_MUST_CHECK int onnx_add_constant(const struct onnx_node *n, size_t k,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes);
/** The same for a list of int64. */
MSD_MUST_CHECK int onnx_add_ints(const struct onnx_node *n, size_t k,
				 const int64_t *values, size_t count);
/** The same for one float. */
MSD_MUST_CHECK int onnx_add_float(const struct onnx_node *n, size_t k, float value);
/** Set @t, which may be NULL, as input @k of the node. */
MSD_MUST_CHECK int onnx_put_input(const struct onnx_node *n, size_t k,
				  modser_sg_tensor *t);
/** Input @i of the node; NULL if it is omitted. */
modser_sg_tensor *onnx_input(const struct onnx_node *n, size_t i);
/** Dimensions of input @i if its shape can be inferred now, else -1. */
int onnx_input_ndim(const struct onnx_node *n, size_t i);

/**
 * Insert a new node of operator @op, whose parameter @param is a list, between input
 * @input and the node.
 */
MSD_MUST_CHECK int onnx_insert(const struct onnx_node *n, size_t input, const char *op,
			       const char *param, const int64_t *values, size_t count);

/* A node that a row adds, with one output. */
struct onnx_made {
	struct onnx_node n; /* for onnx_set_int() and onnx_add_constant(); node NULL:
			       memory was short */
	modser_sg_tensor *out;
};

/**
 * Add a node of operator @op with inputs @a and, unless it is NULL, @b. @name is the
 * name of its output in the file, which later nodes then find; NULL: none.
 */
struct onnx_made onnx_make(const struct onnx_node *n, const char *op,
			   modser_sg_tensor *a, modser_sg_tensor *b, const char *name);
/** Add a node that gives the extent of @axis of @x as a list of one; NULL: it failed.
 */
modser_sg_tensor *onnx_make_extent(const struct onnx_node *n, modser_sg_tensor *x,
				   int64_t axis);
/** Add nodes that give the positions 0, 1, ... along @axis of @x; NULL: it failed. */
modser_sg_tensor *onnx_make_places(const struct onnx_node *n, modser_sg_tensor *x,
				   int64_t axis);

#endif
