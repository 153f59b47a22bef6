#include "graph/op/op.h"

static const modser_sg_op_field interp_fields[] = {
	OP_INT("resize_type", 1, 0),    OP_FLOAT("width_scale", 1, 4),
	OP_FLOAT("height_scale", 1, 8), OP_INT("output_width", 1, 12),
	OP_INT("output_height", 1, 16),
};
const modser_sg_op_schema msd_op_interp = {
	.name = "Interp",
	.fields = interp_fields,
	.n_fields = OP_COUNT(interp_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 71,
	.tm_bytes = 20,
};
