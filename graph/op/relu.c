#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field relu_fields[] = {
	OP_FLOAT("negative_slope", 0, 0),
};
const modser_sg_op_schema msd_op_relu = {
	.name = "ReLu",
	.fields = relu_fields,
	.n_fields = OP_COUNT(relu_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.infer = msd_infer_same,
	.tm_type = 20,
	.tm_bytes = 4,
};
