#include "graph/op/op.h"

static const modser_sg_op_field pooling_fields[] = {
	OP_INT("alg", 0, 0),           OP_INT("kernel_h", 2, 4),
	OP_INT("kernel_w", 2, 8),      OP_INT("stride_h", 1, 12),
	OP_INT("stride_w", 1, 16),     OP_INT("global", 0, 20),
	OP_INT("caffe_flavor", 0, 24), OP_INT("pad_h0", 0, 28),
	OP_INT("pad_w0", 0, 32),       OP_INT("pad_h1", 0, 36),
	OP_INT("pad_w1", 0, 40),
};
const modser_sg_op_schema msd_op_pooling = {
	.name = "Pooling",
	.fields = pooling_fields,
	.n_fields = OP_COUNT(pooling_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 16,
	.tm_bytes = 44,
};
