#ifndef MSD_ONNX_TENSOR_H
#define MSD_ONNX_TENSOR_H
/* Constants with their bytes. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"

struct onnx_load;

/**
 * Create a constant called @name from @p and the node that produces it; raw_data of
 * @p is the location of its bytes in @l's file. NULL with the error of @l's graph.
 */
modser_sg_tensor *onnx_tensor_read(struct onnx_load *l, const Onnx__TensorProto *p,
				   const char *name);
/**
 * Create a constant whose bytes the graph frees with @release (NULL: they outlive
 * it).
 */
modser_sg_tensor *onnx_tensor_create(modser_graph *g, const char *name,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes,
				     void (*release)(void *bytes));

#endif
