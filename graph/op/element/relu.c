#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field relu_fields[] = {
	OP_FLOAT("negative_slope", 0),
};
const modser_sg_op_schema msd_op_relu = {
	.name = "ReLu",
	OP_FIELDS(relu_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = msd_infer_same,
};
