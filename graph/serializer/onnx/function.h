#ifndef MSD_ONNX_FUNCTION_H
#define MSD_ONNX_FUNCTION_H
/*
 * Functions of a model: what a node calls is read in the node's place, as often as it
 * is called, so that a graph has operators alone. A body sees its inputs, and no other
 * names of who calls it; attributes that it refers to are the call's, or their
 * defaults.
 */
#include "graph/serializer/onnx/functions.h"
#include "graph/serializer/onnx/load.h"

#define ONNX_MAX_FUNCTIONS 4096u
/* What calls add to what the file says, in its bytes: bodies, with all that is in them,
 * as often as they are called again, and values as often as bodies refer to them. So
 * no file makes a graph that one without functions, and this much larger, does not. */
#define ONNX_MAX_CALLED_BYTES ((size_t)16 << 20)
#define ONNX_MAX_CALL_ATTRIBUTES 256u
#define ONNX_MAX_CALLS 64u /* of functions and of graphs within nodes, nested */

/* Of a body that is being read. */
struct onnx_call {
	const Onnx__FunctionProto *function;
	const Onnx__NodeProto *node;   /* that calls it, with values for attributes */
	const struct onnx_call *outer; /* in whose body that is; NULL: in none */
	struct onnx_names left_out;    /* inputs, of which it has none */
};

/** Is @name an input of the function that @l reads, which its call left out? */
bool onnx_function_lacks(const struct onnx_load *l, const char *name);
/** Read the body of @f in place of @p, node @i. */
MSD_MUST_CHECK int onnx_function_read(struct onnx_load *l, struct onnx_function *f,
				      const Onnx__NodeProto *p, size_t i);

/* A node whose attributes have values: those that refer to the call's have its. */
struct onnx_resolved {
	Onnx__NodeProto node;
	Onnx__AttributeProto **list; /* owned; NULL: nothing was referred to */
	Onnx__AttributeProto *made;  /* owned */
};

/** Resolve @p, node @i. End with onnx_resolved_finish() in every case. */
MSD_MUST_CHECK int onnx_function_resolve(const struct onnx_load *l,
					 const Onnx__NodeProto *p, size_t i,
					 struct onnx_resolved *ret);
void onnx_resolved_finish(struct onnx_resolved *r);

#endif
