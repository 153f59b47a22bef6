/* Normalizations. */
#include "graph/op/op.h"

static const modser_sg_op_field normalize_fields[] = {
	OP_INT("across_spatial", 0, 0),
	OP_INT("channel_shared", 0, 4),
};
const modser_sg_op_schema msd_op_normalize = {
	.name = "Normalize",
	.fields = normalize_fields,
	.n_fields = OP_COUNT(normalize_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 14,
	.tm_bytes = 8,
};

const modser_sg_op_schema msd_op_fused_bn_scale_relu = {
	.name = "Fused.BNScaleReLu",
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 39,
};

static const modser_sg_op_field instance_norm_fields[] = {
	OP_FLOAT("eps", 1e-5, 0),
};
const modser_sg_op_schema msd_op_instance_norm = {
	.name = "InstanceNorm",
	.fields = instance_norm_fields,
	.n_fields = OP_COUNT(instance_norm_fields),
	.min_in = 1,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 66,
	.tm_bytes = 4,
};

static const modser_sg_op_field mvn_fields[] = {
	OP_INT("across_channels", 0, 0),
	OP_INT("normalize_variance", 1, 4),
	OP_FLOAT("eps", 1e-9, 8),
};
const modser_sg_op_schema msd_op_mvn = {
	.name = "MVN",
	.fields = mvn_fields,
	.n_fields = OP_COUNT(mvn_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 67,
	.tm_bytes = 12,
};

static const modser_sg_op_field log_softmax_fields[] = {
	OP_INT("axis", 1, 0),
};
const modser_sg_op_schema msd_op_log_softmax = {
	.name = "LogSoftmax",
	.fields = log_softmax_fields,
	.n_fields = OP_COUNT(log_softmax_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 99,
	.tm_bytes = 4,
};

const modser_sg_op_schema msd_op_l2_normalization = {
	.name = "L2Normalization",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 101,
};

static const modser_sg_op_field layer_norm_fields[] = {
	OP_FLOAT("eps", 1e-5, 0),
};
const modser_sg_op_schema msd_op_layer_norm = {
	.name = "LayerNorm",
	.fields = layer_norm_fields,
	.n_fields = OP_COUNT(layer_norm_fields),
	.min_in = 1,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 107,
	.tm_bytes = 4,
};

static const modser_sg_op_field l2_pool_fields[] = {
	OP_INT("padding", 0, 0),   OP_INT("kernel_h", 1, 4),  OP_INT("kernel_w", 1, 8),
	OP_INT("stride_h", 1, 12), OP_INT("stride_w", 1, 16),
};
const modser_sg_op_schema msd_op_l2_pool = {
	.name = "L2Pool",
	.fields = l2_pool_fields,
	.n_fields = OP_COUNT(l2_pool_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 98,
	.tm_bytes = 20,
};
