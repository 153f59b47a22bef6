#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field softmax_fields[] = {
	OP_INT("axis", 1),
	OP_OWN_INT("flattens",
		   0), /* normalizes over the axes after it, too: ONNX up to opset 12 */
};
static int infer(modser_sg_node *node)
{
	size_t axis;

	if (msd_infer_axis(node, &axis) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_softmax = {
	.name = "Softmax",
	OP_FIELDS(softmax_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

static const modser_sg_op_field log_softmax_fields[] = {
	OP_INT("axis", 1),
	OP_OWN_INT("flattens", 0),
};
const modser_sg_op_schema msd_op_log_softmax = {
	.name = "LogSoftmax",
	OP_FIELDS(log_softmax_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};

static const modser_sg_op_field hardmax_fields[] = {
	OP_OWN_INT("axis", -1),
	OP_OWN_INT("flattens", 0),
};
const modser_sg_op_schema msd_op_hardmax = {
	.name = "Hardmax",
	OP_FIELDS(hardmax_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
