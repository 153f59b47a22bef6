/* Element-wise operators with parameters. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

static int infer_unary(modser_sg_node *node)
{
	return MSD_PARAM_RANGE(node, unary, type, 0, 16) == 0 ? msd_infer_same(node)
							      : -1;
}

const modser_sg_op_schema msd_op_unary = {
	.name = "Unary",
	OP_PARAMS(MSD_PARAMS_UNARY),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_unary,
};

const modser_sg_op_schema msd_op_threshold = {
	.name = "Threshold",
	OP_PARAMS(MSD_PARAMS_THRESHOLD),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

const modser_sg_op_schema msd_op_hardsigmoid = {
	.name = "Hardsigmoid",
	OP_PARAMS(MSD_PARAMS_HARDSIGMOID),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

const modser_sg_op_schema msd_op_hard_swish = {
	.name = "HardSwish",
	OP_PARAMS(MSD_PARAMS_HARD_SWISH),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

const modser_sg_op_schema msd_op_selu = {
	.name = "Selu",
	OP_PARAMS(MSD_PARAMS_SELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

const modser_sg_op_schema msd_op_elu = {
	.name = "Elu",
	OP_PARAMS(MSD_PARAMS_ELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

/* ONNX may give the limits as inputs, each a scalar. */
static int infer_clip(modser_sg_node *node)
{
	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		if (msd_infer_has(node, i) &&
		    msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) != 1)
			return msd_infer_fail(node, "a limit is not one number");
	}
	if (msd_infer_alike(node, 0, modser_sg_node_input_count(node)) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_clip = {
	.name = "Clip",
	OP_PARAMS(MSD_PARAMS_CLIP),
	OP_IN(1, 3),
	.optional_in = 6,
	OP_OUT(1, 1),
	.infer = infer_clip,
};

/* Element types by their numbers in tmfiles. */
static const char *const tm_types[] = {"float32", "float16", "int8",
				       "uint8",   "int32",   "int16"};

static int infer_cast(modser_sg_node *node)
{
	const struct msd_params_cast p = msd_params_cast(node);
	const char *to = p.to;
	struct msd_dtype dtype;

	if (to[0] == '\0') {
		if (MSD_PARAM_RANGE(node, cast, type_to, 0, OP_COUNT(tm_types) - 1) !=
		    0)
			return -1;
		to = tm_types[p.type_to];
	}
	if (!msd_dtype_parse(to, strlen(to), &dtype))
		return msd_infer_fail(node, "no element type is called \"%s\"", to);
	msd_infer_dtype(node, 0, dtype);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_cast = {
	.name = "Cast",
	OP_PARAMS(MSD_PARAMS_CAST),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_cast,
};

const modser_sg_op_schema msd_op_celu = {
	.name = "Celu",
	OP_PARAMS(MSD_PARAMS_CELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static int infer_gelu(modser_sg_node *node)
{
	const char *how = msd_params_gelu(node).approximate;

	if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
		return msd_infer_fail(node, "approximation \"%s\" is not known", how);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_gelu = {
	.name = "Gelu",
	OP_PARAMS(MSD_PARAMS_GELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_gelu,
};

const modser_sg_op_schema msd_op_thresholded_relu = {
	.name = "ThresholdedRelu",
	OP_PARAMS(MSD_PARAMS_THRESHOLDED_RELU),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

const modser_sg_op_schema msd_op_shrink = {
	.name = "Shrink",
	OP_PARAMS(MSD_PARAMS_SHRINK),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

/* The output has the dtype of input 1. */
static int infer_cast_like(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_cast_like = {
	.name = "CastLike",
	OP_PARAMS(MSD_PARAMS_CAST_LIKE),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_cast_like,
};

static int infer_asks(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, OP_BOOL);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_is_inf = {
	.name = "IsInf",
	OP_PARAMS(MSD_PARAMS_IS_INF),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_asks,
};

const modser_sg_op_schema msd_op_is_nan = {
	.name = "IsNaN",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_asks,
};
