#include "graph/op/op.h"

static const modser_sg_op_field upsample_fields[] = {
	OP_FLOAT("scale", 1, 0),
};
const modser_sg_op_schema msd_op_upsample = {
	.name = "Upsample",
	.fields = upsample_fields,
	.n_fields = OP_COUNT(upsample_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 51,
	.tm_bytes = 4,
};
