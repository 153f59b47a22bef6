#include "graph/op/op.h"

static const modser_sg_op_field fully_connected_fields[] = {
	OP_INT("num_output", 1, 0),
};
const modser_sg_op_schema msd_op_fully_connected = {
	.name = "FullyConnected",
	.fields = fully_connected_fields,
	.n_fields = OP_COUNT(fully_connected_fields),
	.min_in = 2,
	.max_in = 3,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 11,
	.tm_bytes = 4,
};
