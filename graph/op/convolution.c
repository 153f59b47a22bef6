#include "graph/op/op.h"

static const modser_sg_op_field convolution_fields[] = {
	OP_INT("kernel_h", 1, 0),       OP_INT("kernel_w", 1, 4),
	OP_INT("stride_h", 1, 8),       OP_INT("stride_w", 1, 12),
	OP_INT("dilation_h", 1, 16),    OP_INT("dilation_w", 1, 20),
	OP_INT("input_channel", 1, 24), OP_INT("output_channel", 1, 28),
	OP_INT("group", 1, 32),         OP_INT("activation", -1, 36),
	OP_INT("pad_h0", 0, 40),        OP_INT("pad_w0", 0, 44),
	OP_INT("pad_h1", 0, 48),        OP_INT("pad_w1", 0, 52),
};
const modser_sg_op_schema msd_op_convolution = {
	.name = "Convolution",
	.fields = convolution_fields,
	.n_fields = OP_COUNT(convolution_fields),
	.min_in = 2,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 5,
	.tm_bytes = 56,
};
