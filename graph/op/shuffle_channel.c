#include "graph/op/op.h"

static const modser_sg_op_field shuffle_channel_fields[] = {
	OP_INT("group", 1, 0),
};
const modser_sg_op_schema msd_op_shuffle_channel = {
	.name = "ShuffleChannel",
	.fields = shuffle_channel_fields,
	.n_fields = OP_COUNT(shuffle_channel_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 55,
	.tm_bytes = 4,
};
