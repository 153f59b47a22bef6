/* Schemas of operators that propose regions and filter boxes: they are read, written
 * and shown. They have no inference yet, so a model with one of them does not run. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_accuracy = {
	.name = "Accuracy",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(0, 0),
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
	OP_FIELDS(region_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(19, 28),
};

static const modser_sg_op_field reorg_fields[] = {
	OP_INT("stride", 1, 0),
};
const modser_sg_op_schema msd_op_reorg = {
	.name = "Reorg",
	OP_FIELDS(reorg_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(22, 4),
};

static const modser_sg_op_field roi_pooling_fields[] = {
	OP_INT("pooled_h", 0, 0),
	OP_INT("pooled_w", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
};
const modser_sg_op_schema msd_op_roi_pooling = {
	.name = "ROIPooling",
	OP_FIELDS(roi_pooling_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(24, 12),
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
	OP_FIELDS(rpn_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(25, 36),
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
	OP_FIELDS(detection_post_process_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(30, 24),
};

static const modser_sg_op_field roialign_fields[] = {
	OP_INT("pooled_w", 0, 0),
	OP_INT("pooled_h", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
};
const modser_sg_op_schema msd_op_roialign = {
	.name = "Roialign",
	OP_FIELDS(roialign_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(57, 12),
};

static const modser_sg_op_field psroipooling_fields[] = {
	OP_INT("pooled_w", 0, 0),
	OP_INT("pooled_h", 0, 4),
	OP_FLOAT("spatial_scale", 1, 8),
	OP_INT("output_dim", 0, 12),
};
const modser_sg_op_schema msd_op_psroipooling = {
	.name = "Psroipooling",
	OP_FIELDS(psroipooling_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(58, 16),
};

static const modser_sg_op_field spatial_transformer_fields[] = {
	OP_INT("sampler_type", 0, 0),
	OP_INT("transformer_type", 0, 4),
	OP_INT("shape_size", 0, 8),
	OP_INTS("target_shape", 12),
};
const modser_sg_op_schema msd_op_spatial_transformer = {
	.name = "SpatialTransformer",
	OP_FIELDS(spatial_transformer_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
	OP_TM(105, 16),
};
