#include "graph/op/op.h"

/* Its shape is the file's, or was given. */
static int infer(modser_sg_node *node)
{
	(void)node;
	return 0;
}

const modser_sg_op_schema msd_op_input_op = {
	.name = "InputOp",
	OP_OUT(1, 1),
	OP_TM(12, 0),
	.infer = infer,
};
