#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field softmax_fields[] = {
	OP_INT("axis", 1, 0),
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
	.fields = softmax_fields,
	.n_fields = OP_COUNT(softmax_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.infer = infer,
	.tm_type = 28,
	.tm_bytes = 4,
};
