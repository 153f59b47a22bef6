#include "graph/op/op.h"

const modser_sg_op_schema msd_op_const = {
	.name = "Const",
	.min_out = 1,
	.max_out = 1,
	.tm_type = 4,
};
