#include "graph/op/op.h"

static const modser_sg_op_field reshape_fields[] = {
	OP_INT("is_mxnet", 0, 0),
	OP_INT("reverse", 0, 4),
	OP_INTS("re_shape", 8),
	OP_INT("is_onnx", 0, 12),
};
const modser_sg_op_schema msd_op_reshape = {
	.name = "Reshape",
	.fields = reshape_fields,
	.n_fields = OP_COUNT(reshape_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 23,
	.tm_bytes = 16,
};
