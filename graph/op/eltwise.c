#include "graph/op/op.h"

static const modser_sg_op_field eltwise_fields[] = {
	OP_INT("type", 2, 0),     OP_INT("caffe_flavor", 0, 4), OP_FLOAT("shift", 0, 8),
	OP_FLOAT("power", 1, 12), OP_FLOAT("scale", 1, 16),
};
const modser_sg_op_schema msd_op_eltwise = {
	.name = "Eltwise",
	.fields = eltwise_fields,
	.n_fields = OP_COUNT(eltwise_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 9,
	.tm_bytes = 20,
};
