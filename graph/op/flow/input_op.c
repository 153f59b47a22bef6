#include "graph/op/op.h"

/* The shape is given by the file or by the user. */
static int infer(modser_sg_node *node)
{
	(void)node;
	return 0;
}

const modser_sg_op_schema msd_op_input_op = {
	.name = "InputOp",
	OP_OUT(1, 1),
	.infer = infer,
};
