#include "graph/op/op.h"

const modser_sg_op_schema msd_op_broad_mul = {
	.name = "BroadMul",
	.min_in = 2,
	.max_in = 2,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 74,
};
