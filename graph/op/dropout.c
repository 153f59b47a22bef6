#include "graph/ir/infer.h"
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_dropout = {
	.name = "Dropout",
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.infer = msd_infer_same,
	.tm_type = 8,
};
