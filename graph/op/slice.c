#include "graph/op/op.h"

static const modser_sg_op_field slice_fields[] = {
	OP_INT("axis", 0, 0),    OP_INTS("slice_points", 4), OP_INTS("begins", 8),
	OP_INTS("sizes", 12),    OP_INT("iscaffe", 0, 16),   OP_INT("ismxnet", 0, 20),
	OP_INT("isonnx", 0, 24), OP_INT("begin", 0, 28),     OP_INT("end", 0, 32),
	OP_INT("step", 1, 36),
};
const modser_sg_op_schema msd_op_slice = {
	.name = "Slice",
	.fields = slice_fields,
	.n_fields = OP_COUNT(slice_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 27,
	.tm_bytes = 40,
};
