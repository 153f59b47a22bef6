#include "graph/op/op.h"

const modser_sg_op_schema msd_op_input_op = {
	.name = "InputOp",
	.min_out = 1,
	.max_out = 1,
	.tm_type = 12,
};
