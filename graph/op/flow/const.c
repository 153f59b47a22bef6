#include "graph/op/op.h"

/* The file gives the shape. */
static int infer(modser_sg_node *node)
{
	(void)node;
	return 0;
}

const modser_sg_op_schema msd_op_const = {
	.name = "Const",
	OP_OUT(1, 1),
	.infer = infer,
};
