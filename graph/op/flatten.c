#include "graph/op/op.h"

static const modser_sg_op_field flatten_fields[] = {
	OP_INT("axis", 1, 0),
	OP_INT("end_axis", 3, 4),
};
const modser_sg_op_schema msd_op_flatten = {
	.name = "Flatten",
	.fields = flatten_fields,
	.n_fields = OP_COUNT(flatten_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 10,
	.tm_bytes = 8,
};
