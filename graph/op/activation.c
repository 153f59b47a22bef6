/*
 * Schemas of what is computed element by element: read, written, shown. They have no
 * inference yet, so a model with one of them is not run.
 */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_tanh = {
	.name = "Tanh",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(36, 0),
};

const modser_sg_op_schema msd_op_sigmoid = {
	.name = "Sigmoid",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(37, 0),
};

const modser_sg_op_schema msd_op_logistic = {
	.name = "Logistic",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(33, 0),
};

const modser_sg_op_schema msd_op_absval = {
	.name = "Absval",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(68, 0),
};

static const modser_sg_op_field unary_fields[] = {
	OP_INT("type", 0, 0),
};
const modser_sg_op_schema msd_op_unary = {
	.name = "Unary",
	OP_FIELDS(unary_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(59, 4),
};

static const modser_sg_op_field threshold_fields[] = {
	OP_FLOAT("threshold", 0, 0),
};
const modser_sg_op_schema msd_op_threshold = {
	.name = "Threshold",
	OP_FIELDS(threshold_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(63, 4),
};

static const modser_sg_op_field hardsigmoid_fields[] = {
	OP_FLOAT("alpha", 0.2, 0),
	OP_FLOAT("beta", 0.5, 4),
};
const modser_sg_op_schema msd_op_hardsigmoid = {
	.name = "Hardsigmoid",
	OP_FIELDS(hardsigmoid_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(64, 8),
};

static const modser_sg_op_field hard_swish_fields[] = {
	OP_FLOAT("alpha", 1, 0),
	OP_FLOAT("beta", 3, 4),
};
const modser_sg_op_schema msd_op_hard_swish = {
	.name = "HardSwish",
	OP_FIELDS(hard_swish_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(70, 8),
};

static const modser_sg_op_field selu_fields[] = {
	OP_FLOAT("alpha", 1.67326319, 0),
	OP_FLOAT("lambda", 1.05070102, 4),
};
const modser_sg_op_schema msd_op_selu = {
	.name = "Selu",
	OP_FIELDS(selu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(72, 8),
};

static const modser_sg_op_field elu_fields[] = {
	OP_FLOAT("alpha", 1, 0),
};
const modser_sg_op_schema msd_op_elu = {
	.name = "Elu",
	OP_FIELDS(elu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(73, 4),
};

const modser_sg_op_schema msd_op_ceil = {
	.name = "Ceil",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(83, 0),
};

const modser_sg_op_schema msd_op_round = {
	.name = "Round",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(85, 0),
};

const modser_sg_op_schema msd_op_zeros_like = {
	.name = "ZerosLike",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(86, 0),
};

static const modser_sg_op_field clip_fields[] = {
	OP_FLOAT("max", 3.40282347e+38, 0),
	OP_FLOAT("min", -3.40282347e+38, 4),
};
const modser_sg_op_schema msd_op_clip = {
	.name = "Clip",
	OP_FIELDS(clip_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(87, 8),
};

const modser_sg_op_schema msd_op_mish = {
	.name = "Mish",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(97, 0),
};

const modser_sg_op_schema msd_op_relu1 = {
	.name = "ReLU1",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(100, 0),
};

const modser_sg_op_schema msd_op_softplus = {
	.name = "Softplus",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(102, 0),
};

const modser_sg_op_schema msd_op_reciprocal = {
	.name = "Reciprocal",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(103, 0),
};

const modser_sg_op_schema msd_op_gelu = {
	.name = "Gelu",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(106, 0),
};

static const modser_sg_op_field cast_fields[] = {
	OP_INT("type_from", 1, 0),
	OP_INT("type_to", 1, 4),
};
const modser_sg_op_schema msd_op_cast = {
	.name = "Cast",
	OP_FIELDS(cast_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(69, 8),
};

const modser_sg_op_schema msd_op_noop = {
	.name = "Noop",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(62, 0),
};
