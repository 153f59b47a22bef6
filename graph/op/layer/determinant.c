/* Det: one number for each square matrix. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	if (ndim < 2 ||
	    msd_infer_dims(node, 0)[ndim - 1] != msd_infer_dims(node, 0)[ndim - 2])
		return msd_infer_fail(node, "its input has no square matrices");
	return msd_infer_set(node, msd_infer_dims(node, 0), ndim - 2);
}

const modser_sg_op_schema msd_op_det = {
	.name = "Det",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
