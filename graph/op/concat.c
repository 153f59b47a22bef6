#include "graph/op/op.h"

static const modser_sg_op_field concat_fields[] = {
	OP_INT("axis", 1, 0),
};
const modser_sg_op_schema msd_op_concat = {
	.name = "Concat",
	.fields = concat_fields,
	.n_fields = OP_COUNT(concat_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 3,
	.tm_bytes = 4,
};
