#ifndef MSD_ONNX_FUNCTION_H
#define MSD_ONNX_FUNCTION_H
/*
 * Inline the functions of a model: each call is replaced by the function's body, so
 * that a graph has only operators. A body sees its inputs, and no other names of the
 * caller. Attributes that it refers to come from the call, or from their defaults.
 */
#include "graph/serializer/onnx/functions.h"
#include "graph/serializer/onnx/load.h"

#define ONNX_MAX_FUNCTIONS 4096u
/*
 * Limit of the bytes that inlining adds to the file: bodies, with everything in them,
 * for each repeated call, and values for each reference. So a file with functions
 * cannot make a larger graph than a file without them that is this much larger.
 */
#define ONNX_MAX_CALLED_BYTES ((size_t)16 << 20)
#define ONNX_MAX_CALL_ATTRIBUTES 256u
#define ONNX_MAX_CALLS 64u /* nesting of functions and subgraphs */

/* State of a body during reading. */
struct onnx_call {
	const Onnx__FunctionProto *function;
	const Onnx__NodeProto *node;   /* the call, with values for attributes */
	const struct onnx_call *outer; /* the enclosing call; NULL if none */
	struct msd_names left_out;     /* inputs that the call omits */
};

/** True if @name is an input of the function that @l reads, and its call omits it. */
bool onnx_function_lacks(const struct onnx_load *l, const char *name);
/** Read the body of @f in place of @p, node @i. */
MSD_MUST_CHECK int onnx_function_read(struct onnx_load *l, struct onnx_function *f,
				      const Onnx__NodeProto *p, size_t i);

/* A node with attribute values: references are replaced by the call's attributes. */
struct onnx_resolved {
	Onnx__NodeProto node;
	Onnx__AttributeProto **list; /* owned; NULL: no references */
	Onnx__AttributeProto *made;  /* owned */
};

/** Resolve @p, node @i. End with onnx_resolved_finish() in every case. */
MSD_MUST_CHECK int onnx_function_resolve(const struct onnx_load *l,
					 const Onnx__NodeProto *p, size_t i,
					 struct onnx_resolved *ret);
void onnx_resolved_finish(struct onnx_resolved *r);

#endif
