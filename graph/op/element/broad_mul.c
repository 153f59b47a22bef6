#include "graph/ir/infer.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const int64_t n = msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1));

	if (ndim < 2 || n != msd_infer_dims(node, 0)[1]) {
		return msd_infer_fail(node,
				      "input 1 has not an element for each channel");
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_broad_mul = {
	.name = "BroadMul",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
