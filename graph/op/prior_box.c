#include "graph/op/op.h"

static const modser_sg_op_field prior_box_fields[] = {
	OP_FLOATS("min_size", 0),    OP_FLOATS("max_size", 4),
	OP_FLOATS("variance", 8),    OP_FLOATS("aspect_ratio", 12),
	OP_INT("flip", 0, 16),       OP_INT("clip", 0, 20),
	OP_INT("img_size", 0, 24),   OP_INT("img_h", 0, 28),
	OP_INT("img_w", 0, 32),      OP_FLOAT("step_w", 0, 36),
	OP_FLOAT("step_h", 0, 40),   OP_FLOAT("offset", 0, 44),
	OP_INT("num_priors", 0, 48), OP_INT("out_dim", 0, 52),
};
const modser_sg_op_schema msd_op_prior_box = {
	.name = "PriorBox",
	.fields = prior_box_fields,
	.n_fields = OP_COUNT(prior_box_fields),
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 18,
	.tm_bytes = 56,
};
