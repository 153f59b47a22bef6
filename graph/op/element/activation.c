/* Element-wise operators with parameters. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field unary_fields[] = {
	OP_INT("type", 0),
};
static int infer_unary(modser_sg_node *node)
{
	return msd_infer_range(node, "type", 0, 16) == 0 ? msd_infer_same(node) : -1;
}

const modser_sg_op_schema msd_op_unary = {
	.name = "Unary",
	OP_FIELDS(unary_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_unary,
};

static const modser_sg_op_field threshold_fields[] = {
	OP_FLOAT("threshold", 0),
};
const modser_sg_op_schema msd_op_threshold = {
	.name = "Threshold",
	OP_FIELDS(threshold_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field hardsigmoid_fields[] = {
	OP_FLOAT("alpha", 0.2),
	OP_FLOAT("beta", 0.5),
};
const modser_sg_op_schema msd_op_hardsigmoid = {
	.name = "Hardsigmoid",
	OP_FIELDS(hardsigmoid_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field hard_swish_fields[] = {
	OP_FLOAT("alpha", 1),
	OP_FLOAT("beta", 3),
};
const modser_sg_op_schema msd_op_hard_swish = {
	.name = "HardSwish",
	OP_FIELDS(hard_swish_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field selu_fields[] = {
	OP_FLOAT("alpha", 1.67326319),
	OP_FLOAT("lambda", 1.05070102),
};
const modser_sg_op_schema msd_op_selu = {
	.name = "Selu",
	OP_FIELDS(selu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field elu_fields[] = {
	OP_FLOAT("alpha", 1),
};
const modser_sg_op_schema msd_op_elu = {
	.name = "Elu",
	OP_FIELDS(elu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field clip_fields[] = {
	OP_FLOAT("max", 3.40282347e+38),
	OP_FLOAT("min", -3.40282347e+38),
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
	OP_FIELDS(clip_fields),
	OP_IN(1, 3),
	.optional_in = 6,
	OP_OUT(1, 1),
	.infer = infer_clip,
};

static const modser_sg_op_field cast_fields[] = {
	OP_INT("type_from", 1),          OP_INT("type_to", 1),
	OP_OWN_TEXT("to", ""),           OP_OWN_INT("saturate", 1),
	OP_OWN_TEXT("round_mode", "up"),
};
/* Element types by their numbers in tmfiles. */
static const char *const tm_types[] = {"float32", "float16", "int8",
				       "uint8",   "int32",   "int16"};

static int infer_cast(modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const char *to = modser_sg_op_param(op, "to")->as.s;
	struct msd_dtype dtype;

	if (to[0] == '\0') {
		if (msd_infer_range(node, "type_to", 0, OP_COUNT(tm_types) - 1) != 0)
			return -1;
		to = tm_types[modser_sg_op_int(op, "type_to")];
	}
	if (!msd_dtype_parse(to, strlen(to), &dtype))
		return msd_infer_fail(node, "no element type is called \"%s\"", to);
	msd_infer_dtype(node, 0, dtype);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_cast = {
	.name = "Cast",
	OP_FIELDS(cast_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_cast,
};

static const modser_sg_op_field celu_fields[] = {
	OP_OWN_FLOAT("alpha", 1),
};
const modser_sg_op_schema msd_op_celu = {
	.name = "Celu",
	OP_FIELDS(celu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field gelu_fields[] = {
	OP_OWN_TEXT("approximate", "none"),
};
static int infer_gelu(modser_sg_node *node)
{
	const char *how =
		modser_sg_op_param(modser_sg_node_op(node), "approximate")->as.s;

	if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
		return msd_infer_fail(node, "approximation \"%s\" is not known", how);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_gelu = {
	.name = "Gelu",
	OP_FIELDS(gelu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_gelu,
};

static const modser_sg_op_field thresholded_relu_fields[] = {
	OP_OWN_FLOAT("alpha", 1),
};
const modser_sg_op_schema msd_op_thresholded_relu = {
	.name = "ThresholdedRelu",
	OP_FIELDS(thresholded_relu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field shrink_fields[] = {
	OP_OWN_FLOAT("bias", 0),
	OP_OWN_FLOAT("lambd", 0.5),
};
const modser_sg_op_schema msd_op_shrink = {
	.name = "Shrink",
	OP_FIELDS(shrink_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};

static const modser_sg_op_field cast_like_fields[] = {
	OP_OWN_INT("saturate", 1),
	OP_OWN_TEXT("round_mode", "up"),
};

/* The output has the dtype of input 1. */
static int infer_cast_like(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_cast_like = {
	.name = "CastLike",
	OP_FIELDS(cast_like_fields),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_cast_like,
};

static int infer_asks(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, OP_BOOL);
	return msd_infer_same(node);
}

static const modser_sg_op_field is_inf_fields[] = {
	OP_OWN_INT("detect_negative", 1),
	OP_OWN_INT("detect_positive", 1),
};
const modser_sg_op_schema msd_op_is_inf = {
	.name = "IsInf",
	OP_FIELDS(is_inf_fields),
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
