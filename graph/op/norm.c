/* Normalizations. */
#include "graph/op/op.h"

static const modser_sg_op_field normalize_fields[] = {
	OP_INT("across_spatial", 0, 0),
	OP_INT("channel_shared", 0, 4),
};
const modser_sg_op_schema msd_op_normalize = {
	.name = "Normalize",
	OP_FIELDS(normalize_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	OP_TM(14, 8),
};

const modser_sg_op_schema msd_op_fused_bn_scale_relu = {
	.name = "Fused.BNScaleReLu",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(39, 0),
};

static const modser_sg_op_field instance_norm_fields[] = {
	OP_FLOAT("eps", 1e-5, 0),
};
const modser_sg_op_schema msd_op_instance_norm = {
	.name = "InstanceNorm",
	OP_FIELDS(instance_norm_fields),
	OP_IN(1, 3),
	OP_OUT(1, 1),
	OP_TM(66, 4),
};

static const modser_sg_op_field mvn_fields[] = {
	OP_INT("across_channels", 0, 0),
	OP_INT("normalize_variance", 1, 4),
	OP_FLOAT("eps", 1e-9, 8),
};
const modser_sg_op_schema msd_op_mvn = {
	.name = "MVN",
	OP_FIELDS(mvn_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(67, 12),
};

static const modser_sg_op_field log_softmax_fields[] = {
	OP_INT("axis", 1, 0),
};
const modser_sg_op_schema msd_op_log_softmax = {
	.name = "LogSoftmax",
	OP_FIELDS(log_softmax_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(99, 4),
};

const modser_sg_op_schema msd_op_l2_normalization = {
	.name = "L2Normalization",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(101, 0),
};

static const modser_sg_op_field layer_norm_fields[] = {
	OP_FLOAT("eps", 1e-5, 0),
};
const modser_sg_op_schema msd_op_layer_norm = {
	.name = "LayerNorm",
	OP_FIELDS(layer_norm_fields),
	OP_IN(1, 3),
	OP_OUT(1, 1),
	OP_TM(107, 4),
};

static const modser_sg_op_field l2_pool_fields[] = {
	OP_INT("padding", 0, 0),   OP_INT("kernel_h", 1, 4),  OP_INT("kernel_w", 1, 8),
	OP_INT("stride_h", 1, 12), OP_INT("stride_w", 1, 16),
};
const modser_sg_op_schema msd_op_l2_pool = {
	.name = "L2Pool",
	OP_FIELDS(l2_pool_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(98, 20),
};
