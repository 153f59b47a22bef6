/* What is computed of two tensors or more, element by element. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_maximum = {
	.name = "Maximum",
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 46,
};

const modser_sg_op_schema msd_op_minimum = {
	.name = "Minimum",
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 47,
};

static const modser_sg_op_field addn_fields[] = {
	OP_INT("axis", 0, 0),
};
const modser_sg_op_schema msd_op_addn = {
	.name = "Addn",
	.fields = addn_fields,
	.n_fields = OP_COUNT(addn_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 49,
	.tm_bytes = 4,
};

static const modser_sg_op_field bias_fields[] = {
	OP_INT("bias_size", 0, 0),
};
const modser_sg_op_schema msd_op_bias = {
	.name = "Bias",
	.fields = bias_fields,
	.n_fields = OP_COUNT(bias_fields),
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 61,
	.tm_bytes = 4,
};

static const modser_sg_op_field logical_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_logical = {
	.name = "Logical",
	.fields = logical_fields,
	.n_fields = OP_COUNT(logical_fields),
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 75,
	.tm_bytes = 4,
};

static const modser_sg_op_field comparison_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_comparison = {
	.name = "Comparison",
	.fields = comparison_fields,
	.n_fields = OP_COUNT(comparison_fields),
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 78,
	.tm_bytes = 4,
};

const modser_sg_op_schema msd_op_squared_difference = {
	.name = "SquaredDifference",
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 84,
};

const modser_sg_op_schema msd_op_mean = {
	.name = "Mean",
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 90,
};

const modser_sg_op_schema msd_op_where = {
	.name = "Where",
	.min_in = 3,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 95,
};

static const modser_sg_op_field scale_fields[] = {
	OP_INT("axis", 1, 0),
	OP_INT("num_axes", 1, 4),
	OP_INT("bias_term", 0, 8),
};
const modser_sg_op_schema msd_op_scale = {
	.name = "Scale",
	.fields = scale_fields,
	.n_fields = OP_COUNT(scale_fields),
	.min_in = 2,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 26,
	.tm_bytes = 12,
};
