#include "graph/op/op.h"

static const modser_sg_op_field crop_fields[] = {
	OP_INT("num_args", 0, 0),      OP_INT("offset_c", 0, 4),
	OP_INT("offset_h", 0, 8),      OP_INT("offset_w", 0, 12),
	OP_INT("crop_h", 0, 16),       OP_INT("crop_w", 0, 20),
	OP_BYTE("center_crop", 0, 24), OP_INT("axis", 0, 28),
	OP_INT("flag", 0, 32),
};
const modser_sg_op_schema msd_op_crop = {
	.name = "Crop",
	.fields = crop_fields,
	.n_fields = OP_COUNT(crop_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 56,
	.tm_bytes = 36,
};
