#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	if (msd_infer_rank(node, 1, 2) != 0 || msd_infer_alike(node, 0, 3) != 0)
		return -1;
	const int64_t *weights = msd_infer_dims(node, 1);
	if (ndim < 1 || msd_infer_product(node, 0, 1, ndim) != weights[1])
		return msd_infer_fail(node, "its input and its weights do not fit");
	if (modser_sg_node_input_count(node) > 2 &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != weights[0])
		return msd_infer_fail(node, "its bias and its weights do not fit");
	const int64_t dims[] = {msd_infer_dims(node, 0)[0], weights[0]};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_fully_connected = {
	.name = "FullyConnected",
	OP_PARAMS(MSD_PARAMS_FULLY_CONNECTED),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer,
};
