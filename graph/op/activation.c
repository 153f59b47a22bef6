/* What is computed element by element, and has no inference yet. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_tanh = {
	.name = "Tanh",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 36,
};

const modser_sg_op_schema msd_op_sigmoid = {
	.name = "Sigmoid",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 37,
};

const modser_sg_op_schema msd_op_logistic = {
	.name = "Logistic",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 33,
};

const modser_sg_op_schema msd_op_absval = {
	.name = "Absval",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 68,
};

static const modser_sg_op_field unary_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_unary = {
	.name = "Unary",
	.fields = unary_fields,
	.n_fields = OP_COUNT(unary_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 59,
	.tm_bytes = 4,
};

static const modser_sg_op_field threshold_fields[] = {
	OP_FLOAT("threshold", 0, 0),
};
const modser_sg_op_schema msd_op_threshold = {
	.name = "Threshold",
	.fields = threshold_fields,
	.n_fields = OP_COUNT(threshold_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 63,
	.tm_bytes = 4,
};

static const modser_sg_op_field hardsigmoid_fields[] = {
	OP_FLOAT("alpha", 0.2, 0),
	OP_FLOAT("beta", 0.5, 4),
};
const modser_sg_op_schema msd_op_hardsigmoid = {
	.name = "Hardsigmoid",
	.fields = hardsigmoid_fields,
	.n_fields = OP_COUNT(hardsigmoid_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 64,
	.tm_bytes = 8,
};

static const modser_sg_op_field hard_swish_fields[] = {
	OP_FLOAT("alpha", 1, 0),
	OP_FLOAT("beta", 3, 4),
};
const modser_sg_op_schema msd_op_hard_swish = {
	.name = "HardSwish",
	.fields = hard_swish_fields,
	.n_fields = OP_COUNT(hard_swish_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 70,
	.tm_bytes = 8,
};

static const modser_sg_op_field selu_fields[] = {
	OP_FLOAT("alpha", 1.67326319, 0),
	OP_FLOAT("lambda", 1.05070102, 4),
};
const modser_sg_op_schema msd_op_selu = {
	.name = "Selu",
	.fields = selu_fields,
	.n_fields = OP_COUNT(selu_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 72,
	.tm_bytes = 8,
};

static const modser_sg_op_field elu_fields[] = {
	OP_FLOAT("alpha", 1, 0),
};
const modser_sg_op_schema msd_op_elu = {
	.name = "Elu",
	.fields = elu_fields,
	.n_fields = OP_COUNT(elu_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 73,
	.tm_bytes = 4,
};

const modser_sg_op_schema msd_op_ceil = {
	.name = "Ceil",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 83,
};

const modser_sg_op_schema msd_op_round = {
	.name = "Round",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 85,
};

const modser_sg_op_schema msd_op_zeros_like = {
	.name = "ZerosLike",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 86,
};

static const modser_sg_op_field clip_fields[] = {
	OP_FLOAT("max", 3.40282347e+38, 0),
	OP_FLOAT("min", -3.40282347e+38, 4),
};
const modser_sg_op_schema msd_op_clip = {
	.name = "Clip",
	.fields = clip_fields,
	.n_fields = OP_COUNT(clip_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 87,
	.tm_bytes = 8,
};

const modser_sg_op_schema msd_op_mish = {
	.name = "Mish",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 97,
};

const modser_sg_op_schema msd_op_relu1 = {
	.name = "ReLU1",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 100,
};

const modser_sg_op_schema msd_op_softplus = {
	.name = "Softplus",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 102,
};

const modser_sg_op_schema msd_op_reciprocal = {
	.name = "Reciprocal",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 103,
};

const modser_sg_op_schema msd_op_gelu = {
	.name = "Gelu",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 106,
};

static const modser_sg_op_field cast_fields[] = {
	OP_INT("type_from", 1, 0),
	OP_INT("type_to", 1, 4),
};
const modser_sg_op_schema msd_op_cast = {
	.name = "Cast",
	.fields = cast_fields,
	.n_fields = OP_COUNT(cast_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 69,
	.tm_bytes = 8,
};

const modser_sg_op_schema msd_op_noop = {
	.name = "Noop",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 62,
};
