#ifndef MSD_ONNX_TENSOR_H
#define MSD_ONNX_TENSOR_H
/* Constants with their bytes. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"

struct onnx_load;

/** A constant from @p, whose raw_data is the place of its bytes in @l's file, and the
 * node that makes it; called @name. NULL with the error of @l's graph. */
modser_sg_tensor *onnx_tensor_read(struct onnx_load *l, const Onnx__TensorProto *p,
				   const char *name);
/** A constant with bytes that become the graph's by @release (NULL: they outlive it).
 */
modser_sg_tensor *onnx_tensor_create(modser_graph *g, const char *name,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes,
				     void (*release)(void *bytes));

#endif
