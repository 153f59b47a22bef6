#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const int64_t n = msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1));

	if (msd_params_prelu(node).broadcasts != 0) {
		if (msd_infer_ndim(node, 1) > msd_infer_ndim(node, 0))
			return msd_infer_fail(node, "its slopes do not fit");
		return msd_infer_elementwise(node);
	}
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	if (n != 1 && n != msd_infer_dims(node, 0)[1])
		return msd_infer_fail(node, "it has not a slope for each channel");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_prelu = {
	.name = "PReLU",
	OP_PARAMS(MSD_PARAMS_PRELU),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
