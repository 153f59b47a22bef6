#ifndef MSD_ONNX_FUNCTIONS_H
#define MSD_ONNX_FUNCTIONS_H
/* The functions of a model, found by the operator of a node. */
#include <onnx.pb-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct onnx_function {
	const Onnx__FunctionProto *proto; /* borrowed */
	size_t bytes;                     /* size of the function */
	bool was_read;                    /* for a call */
};

struct onnx_functions {
	struct onnx_function *list; /* owned; sorted by key */
	size_t n;
	const modser_serializer *methods; /* for operators without a row */
};

/**
 * Index the functions of @m. 0, or -1 with the error of @g: two of them have the same
 * key, or memory is short. End with onnx_functions_finish() in every case.
 */
MSD_MUST_CHECK int onnx_functions_make(const Onnx__ModelProto *m, modser_graph *g,
				       struct onnx_functions *ret);
/** The function that @p calls; NULL if it calls none. */
struct onnx_function *onnx_functions_find(const struct onnx_functions *functions,
					  const Onnx__NodeProto *p);
void onnx_functions_finish(struct onnx_functions *functions);

#endif
