#ifndef MSD_ONNX_FUNCTIONS_H
#define MSD_ONNX_FUNCTIONS_H
/* The functions of a model, by what a node says that it calls. */
#include <onnx.pb-c.h>
#include <stdbool.h>
#include <stddef.h>

#include "graph/modser_graph.h"
#include "proto/err.h"

struct onnx_function {
	const Onnx__FunctionProto *proto; /* borrowed */
	size_t bytes;                     /* of all that it says */
	bool was_read;                    /* for a call */
};

struct onnx_functions {
	struct onnx_function *list; /* owned; in the order of what they are called */
	size_t n;
};

/** The functions of @m. 0, or -1 with the error of @g: two of them are called the same,
 * or memory is short. End with onnx_functions_finish() in every case. */
MSD_MUST_CHECK int onnx_functions_make(const Onnx__ModelProto *m, modser_graph *g,
				       struct onnx_functions *ret);
/** What @p calls; NULL: no function. */
struct onnx_function *onnx_functions_find(const struct onnx_functions *functions,
					  const Onnx__NodeProto *p);
void onnx_functions_finish(struct onnx_functions *functions);

#endif
