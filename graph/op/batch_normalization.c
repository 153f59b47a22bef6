#include "graph/op/op.h"

static const modser_sg_op_field batch_normalization_fields[] = {
	OP_FLOAT("rescale_factor", 1, 0),
	OP_FLOAT("eps", 1e-5, 4),
	OP_INT("caffe_flavor", 0, 8),
};
const modser_sg_op_schema msd_op_batch_normalization = {
	.name = "BatchNormalization",
	.fields = batch_normalization_fields,
	.n_fields = OP_COUNT(batch_normalization_fields),
	.min_in = 5,
	.max_in = 5,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 1,
	.tm_bytes = 12,
};
