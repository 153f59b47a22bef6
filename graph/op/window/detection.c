/* Schemas of operators that propose regions and filter boxes: they are read, written
 * and shown. They have no inference yet, so a model with one of them does not run. */
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_accuracy = {
	.name = "Accuracy",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field region_fields[] = {
	OP_INT("num_classes", 0),
	OP_INT("side", 0),
	OP_INT("num_box", 0),
	OP_INT("coords", 0),
	OP_FLOAT("confidence_threshold", 0),
	OP_FLOAT("nms_threshold", 0),
	OP_FLOATS("biases"),
};
const modser_sg_op_schema msd_op_region = {
	.name = "Region",
	OP_FIELDS(region_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field reorg_fields[] = {
	OP_INT("stride", 1),
};
const modser_sg_op_schema msd_op_reorg = {
	.name = "Reorg",
	OP_FIELDS(reorg_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
};

static const modser_sg_op_field roi_pooling_fields[] = {
	OP_INT("pooled_h", 0),
	OP_INT("pooled_w", 0),
	OP_FLOAT("spatial_scale", 1),
};
const modser_sg_op_schema msd_op_roi_pooling = {
	.name = "ROIPooling",
	OP_FIELDS(roi_pooling_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field rpn_fields[] = {
	OP_FLOATS("ratios"),        OP_FLOATS("scales"),
	OP_INT("feat_stride", 0),   OP_INT("basesize", 0),
	OP_INT("min_size", 0),      OP_INT("per_nms_topn", 0),
	OP_INT("post_nms_topn", 0), OP_FLOAT("nms_threshold", 0),
	OP_FLOATS("anchors"),
};
const modser_sg_op_schema msd_op_rpn = {
	.name = "RPN",
	OP_FIELDS(rpn_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field detection_post_process_fields[] = {
	OP_INT("max_detections", 0),        OP_INT("max_classes_per_detection", 0),
	OP_FLOAT("nms_score_threshold", 0), OP_FLOAT("nms_iou_threshold", 0),
	OP_INT("num_classes", 0),           OP_FLOATS("scales"),
};
const modser_sg_op_schema msd_op_detection_post_process = {
	.name = "DetectionPostProcess",
	OP_FIELDS(detection_post_process_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field roialign_fields[] = {
	OP_INT("pooled_w", 0),
	OP_INT("pooled_h", 0),
	OP_FLOAT("spatial_scale", 1),
};
const modser_sg_op_schema msd_op_roialign = {
	.name = "Roialign",
	OP_FIELDS(roialign_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field psroipooling_fields[] = {
	OP_INT("pooled_w", 0),
	OP_INT("pooled_h", 0),
	OP_FLOAT("spatial_scale", 1),
	OP_INT("output_dim", 0),
};
const modser_sg_op_schema msd_op_psroipooling = {
	.name = "Psroipooling",
	OP_FIELDS(psroipooling_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};

static const modser_sg_op_field spatial_transformer_fields[] = {
	OP_INT("sampler_type", 0),
	OP_INT("transformer_type", 0),
	OP_INT("shape_size", 0),
	OP_INTS("target_shape"),
};
const modser_sg_op_schema msd_op_spatial_transformer = {
	.name = "SpatialTransformer",
	OP_FIELDS(spatial_transformer_fields),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, MODSER_MANY),
};
