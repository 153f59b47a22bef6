#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	size_t axis;

	if (msd_infer_axis(node, msd_params_softmax(node).axis, &axis) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_softmax = {
	.name = "Softmax",
	OP_PARAMS(MSD_PARAMS_SOFTMAX),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

const modser_sg_op_schema msd_op_log_softmax = {
	.name = "LogSoftmax",
	OP_PARAMS(MSD_PARAMS_SOFTMAX),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

const modser_sg_op_schema msd_op_hardmax = {
	.name = "Hardmax",
	OP_PARAMS(MSD_PARAMS_HARDMAX),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
