#include "graph/op/op.h"

static const modser_sg_op_field softmax_fields[] = {
	OP_INT("axis", 1, 0),
};
const modser_sg_op_schema msd_op_softmax = {
	.name = "Softmax",
	.fields = softmax_fields,
	.n_fields = OP_COUNT(softmax_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 28,
	.tm_bytes = 4,
};
