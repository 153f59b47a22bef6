#ifndef MSD_ONNX_TENSOR_H
#define MSD_ONNX_TENSOR_H
/* Element types, and constants with their bytes. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "proto/bytes.h"

/** The name of ONNX's element type @type; NULL: there is none here. */
const char *onnx_dtype_name(int32_t type);
/** ONNX's number for a dtype; 0: there is none. */
int32_t onnx_dtype_number(const char *name);

/** A constant from @p, whose raw_data is the place of its bytes in @file, and the node
 * that makes it; called @name. NULL with the error of @g. */
modser_sg_tensor *onnx_tensor_read(modser_graph *g, struct msd_span file,
				   const Onnx__TensorProto *p, const char *name);
/** A constant with bytes that become the graph's by @release (NULL: they outlive it).
 */
modser_sg_tensor *onnx_tensor_create(modser_graph *g, const char *name,
				     const char *dtype, const int64_t *dims,
				     size_t n_dims, const void *bytes,
				     void (*release)(void *bytes));

#endif
