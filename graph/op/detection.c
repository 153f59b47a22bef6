/* Regions and boxes. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_accuracy = {
	.name = "Accuracy",
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 0,
};

static const modser_sg_op_field region_fields[] = {
	OP_INT("num_classes", 0, 0),
	OP_INT("side", 0, 4),
	OP_INT("num_box", 0, 8),
	OP_INT("coords", 0, 12),
	OP_FLOAT("confidence_threshold", 0, 16),
	OP_FLOAT("nms_threshold", 0, 20),
	OP_FLOATS("biases", 24),
};
const modser_sg_op_schema msd_op_region = {
	.name = "Region",
	.fields = region_fields,
	.n_fields = OP_COUNT(region_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 19,
	.tm_bytes = 28,
};

static const modser_sg_op_field reorg_fields[] = {
	OP_INT("stride", 1, 0),
};
const modser_sg_op_schema msd_op_reorg = {
	.name = "Reorg",
	.fields = reorg_fields,
	.n_fields = OP_COUNT(reorg_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 22,
	.tm_bytes = 4,
};

static const modser_sg_op_field roi_pooling_fields[] = {
	OP_INT("pooled_h", 0, 0),
	OP_INT("pooled_w", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
};
const modser_sg_op_schema msd_op_roi_pooling = {
	.name = "ROIPooling",
	.fields = roi_pooling_fields,
	.n_fields = OP_COUNT(roi_pooling_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 24,
	.tm_bytes = 12,
};

static const modser_sg_op_field rpn_fields[] = {
	OP_FLOATS("ratios", 0),         OP_FLOATS("scales", 4),
	OP_INT("feat_stride", 0, 8),    OP_INT("basesize", 0, 12),
	OP_INT("min_size", 0, 16),      OP_INT("per_nms_topn", 0, 20),
	OP_INT("post_nms_topn", 0, 24), OP_FLOAT("nms_threshold", 0, 28),
	OP_FLOATS4("anchors", 32),
};
const modser_sg_op_schema msd_op_rpn = {
	.name = "RPN",
	.fields = rpn_fields,
	.n_fields = OP_COUNT(rpn_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 25,
	.tm_bytes = 36,
};

static const modser_sg_op_field detection_post_process_fields[] = {
	OP_INT("max_detections", 0, 0),
	OP_INT("max_classes_per_detection", 0, 4),
	OP_FLOAT("nms_score_threshold", 0, 8),
	OP_FLOAT("nms_iou_threshold", 0, 12),
	OP_INT("num_classes", 0, 16),
	OP_FLOATS("scales", 20),
};
const modser_sg_op_schema msd_op_detection_post_process = {
	.name = "DetectionPostProcess",
	.fields = detection_post_process_fields,
	.n_fields = OP_COUNT(detection_post_process_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 30,
	.tm_bytes = 24,
};

static const modser_sg_op_field roialign_fields[] = {
	OP_INT("pooled_w", 0, 0),
	OP_INT("pooled_h", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
};
const modser_sg_op_schema msd_op_roialign = {
	.name = "Roialign",
	.fields = roialign_fields,
	.n_fields = OP_COUNT(roialign_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 57,
	.tm_bytes = 12,
};

static const modser_sg_op_field psroipooling_fields[] = {
	OP_INT("pooled_w", 0, 0),
	OP_INT("pooled_h", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
	OP_INT("output_dim", 0, 12),
};
const modser_sg_op_schema msd_op_psroipooling = {
	.name = "Psroipooling",
	.fields = psroipooling_fields,
	.n_fields = OP_COUNT(psroipooling_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 58,
	.tm_bytes = 16,
};

static const modser_sg_op_field spatial_transformer_fields[] = {
	OP_INT("sampler_type", 0, 0),
	OP_INT("transformer_type", 0, 4),
	OP_INT("shape_size", 0, 8),
	OP_INTS("target_shape", 12),
};
const modser_sg_op_schema msd_op_spatial_transformer = {
	.name = "SpatialTransformer",
	.fields = spatial_transformer_fields,
	.n_fields = OP_COUNT(spatial_transformer_fields),
	.min_in = 1,
	.max_in = MODSER_MANY,
	.min_out = 1,
	.max_out = MODSER_MANY,
	.tm_type = 105,
	.tm_bytes = 16,
};
