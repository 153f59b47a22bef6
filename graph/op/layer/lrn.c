#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	if (MSD_PARAM_RANGE(node, lrn, local_size, 1, INT32_MAX) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_lrn = {
	.name = "LRN",
	OP_PARAMS(MSD_PARAMS_LRN),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
