#include "graph/op/op.h"

static const modser_sg_op_field detection_output_fields[] = {
	OP_INT("num_classes", 0, 0),      OP_INT("keep_top_k", 100, 4),
	OP_INT("nms_top_k", 100, 8),      OP_FLOAT("confidence_threshold", 0, 12),
	OP_FLOAT("nms_threshold", 0, 16),
};
const modser_sg_op_schema msd_op_detection_output = {
	.name = "DetectionOutput",
	OP_FIELDS(detection_output_fields),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	OP_TM(7, 20),
};
