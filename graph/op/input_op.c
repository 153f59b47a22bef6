#include "graph/op/op.h"

/* Its shape is the file's, or was given. */
static int infer(modser_sg_node *node)
{
	(void)node;
	return 0;
}

const modser_sg_op_schema msd_op_input_op = {
	.name = "InputOp",
	.min_out = 1,
	.max_out = 1,
	.infer = infer,
	.tm_type = 12,
};
