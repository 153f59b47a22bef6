#include "graph/op/move/transpose.h"

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

int msd_op_transpose_order(const modser_sg_node *node,
			   size_t ret[static MODSER_GRAPH_MAX_NDIM])
{
	const struct msd_ints perm = msd_params_transpose(node).perm;
	const size_t ndim = msd_infer_ndim(node, 0);
	uint32_t seen = 0;

	if (perm.n != 0 && perm.n != ndim)
		return msd_infer_fail(node, "%zu axes of %zu", perm.n, ndim);
	for (size_t i = 0; i < ndim; i++) {
		ret[i] = ndim - 1 - i; /* reversed, unless the order is given */
		if (perm.n != 0 &&
		    msd_infer_axis_of(node, perm.at[i], ndim, &ret[i]) != 0)
			return -1;
		if ((seen >> ret[i] & 1) != 0)
			return msd_infer_fail(node, "an axis comes twice");
		seen |= UINT32_C(1) << ret[i];
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	size_t order[MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (msd_op_transpose_order(node, order) != 0)
		return -1;
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++)
		dims[i] = msd_infer_dims(node, 0)[order[i]];
	return msd_infer_set(node, dims, msd_infer_ndim(node, 0));
}

const modser_sg_op_schema msd_op_transpose = {
	.name = "Transpose",
	OP_PARAMS(MSD_PARAMS_TRANSPOSE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
