/* What is computed of two tensors or more, element by element. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_maximum = {
	.name = "Maximum",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	OP_TM(46, 0),
};

const modser_sg_op_schema msd_op_minimum = {
	.name = "Minimum",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	OP_TM(47, 0),
};

static const modser_sg_op_field addn_fields[] = {
	OP_INT("axis", 0, 0),
};
const modser_sg_op_schema msd_op_addn = {
	.name = "Addn",
	OP_FIELDS(addn_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	OP_TM(49, 4),
};

static const modser_sg_op_field bias_fields[] = {
	OP_INT("bias_size", 0, 0),
};
const modser_sg_op_schema msd_op_bias = {
	.name = "Bias",
	OP_FIELDS(bias_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	OP_TM(61, 4),
};

static const modser_sg_op_field logical_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_logical = {
	.name = "Logical",
	OP_FIELDS(logical_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	OP_TM(75, 4),
};

static const modser_sg_op_field comparison_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_comparison = {
	.name = "Comparison",
	OP_FIELDS(comparison_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	OP_TM(78, 4),
};

const modser_sg_op_schema msd_op_squared_difference = {
	.name = "SquaredDifference",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	OP_TM(84, 0),
};

const modser_sg_op_schema msd_op_mean = {
	.name = "Mean",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	OP_TM(90, 0),
};

const modser_sg_op_schema msd_op_where = {
	.name = "Where",
	OP_IN(3, 3),
	OP_OUT(1, 1),
	OP_TM(95, 0),
};

static const modser_sg_op_field scale_fields[] = {
	OP_INT("axis", 1, 0),
	OP_INT("num_axes", 1, 4),
	OP_INT("bias_term", 0, 8),
};
const modser_sg_op_schema msd_op_scale = {
	.name = "Scale",
	OP_FIELDS(scale_fields),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	OP_TM(26, 12),
};
