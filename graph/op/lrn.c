#include "graph/op/op.h"

static const modser_sg_op_field lrn_fields[] = {
	OP_INT("local_size", 5, 0), OP_FLOAT("alpha", 1, 4),
	OP_FLOAT("beta", 0.75, 8),  OP_INT("norm_region", 0, 12),
	OP_FLOAT("k", 1, 16),       OP_FLOAT("bias", 0, 20),
	OP_BYTE("is_onnx", 0, 24),
};
const modser_sg_op_schema msd_op_lrn = {
	.name = "LRN",
	.fields = lrn_fields,
	.n_fields = OP_COUNT(lrn_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 13,
	.tm_bytes = 28,
};
