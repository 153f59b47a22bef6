#ifndef MSD_ONNX_SPARSE_H
#define MSD_ONNX_SPARSE_H
/* Sparse tensors, which become dense constants. */
#include "graph/serializer/onnx/load.h"

/* Limit of the bytes that all sparse tensors of a model have together, written out. */
#define ONNX_MAX_DENSE_BYTES ((uint64_t)256 << 20)

/**
 * Create a constant called @name from @p. NULL with the error of @l's graph: an index
 * is outside of the shape, the lists do not fit, or the tensors are too large.
 */
modser_sg_tensor *onnx_sparse_read(struct onnx_load *l,
				   const Onnx__SparseTensorProto *p, const char *name);

#endif
