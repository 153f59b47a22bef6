/* Read elements by indices: Gather, GatherElements, GatherND. */
#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[2 * MODSER_GRAPH_MAX_NDIM];
	size_t axis;
	size_t n = 0;

	if (!msd_infer_has(node, 1))
		return msd_infer_fail(node, "it has no indices");
	if (msd_infer_axis(node, msd_params_gather(node).axis, &axis) != 0)
		return -1;
	const size_t n_indices = msd_infer_ndim(node, 1);
	if (ndim + n_indices - 1 > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	if (msd_infer_indices(node, 1) != 0)
		return -1;
	for (size_t i = 0; i < axis; i++)
		dims[n++] = msd_infer_dims(node, 0)[i];
	for (size_t i = 0; i < n_indices; i++)
		dims[n++] = msd_infer_dims(node, 1)[i];
	for (size_t i = axis + 1; i < ndim; i++)
		dims[n++] = msd_infer_dims(node, 0)[i];
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_gather = {
	.name = "Gather",
	OP_PARAMS(MSD_PARAMS_GATHER),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer,
};

static int infer_elements(modser_sg_node *node)
{
	size_t axis;

	if (msd_infer_indices(node, 1) != 0 ||
	    msd_infer_axis(node, msd_params_gather_elements(node).axis, &axis) != 0 ||
	    msd_infer_inside(node, 1, axis) != 0)
		return -1;
	return msd_infer_set(node, msd_infer_dims(node, 1), msd_infer_ndim(node, 1));
}

const modser_sg_op_schema msd_op_gather_elements = {
	.name = "GatherElements",
	OP_PARAMS(MSD_PARAMS_GATHER_ELEMENTS),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_elements,
};

/* The last extent of the indices is the number of axes, after the batch axes, that
 * they index. */
static int infer_nd(modser_sg_node *node)
{
	const int64_t stacked = msd_params_gather_nd(node).batch_dims;
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n_indices = msd_infer_ndim(node, 1);
	const int64_t *from = msd_infer_dims(node, 0);
	const int64_t *at = msd_infer_dims(node, 1);
	int64_t dims[2 * MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	if (msd_infer_indices(node, 1) != 0)
		return -1;
	if (n_indices == 0 || stacked < 0 || stacked >= (int64_t)n_indices ||
	    stacked > (int64_t)ndim || at[n_indices - 1] > (int64_t)ndim - stacked) {
		return msd_infer_fail(node,
				      "its indices name more axes than there are");
	}
	for (size_t i = 0; i < (size_t)stacked; i++) {
		if (from[i] != at[i])
			return msd_infer_fail(node, "its stacks do not fit");
	}
	for (size_t i = 0; i + 1 < n_indices; i++)
		dims[n++] = at[i];
	for (size_t i = (size_t)(stacked + at[n_indices - 1]); i < ndim; i++)
		dims[n++] = from[i];
	if (n > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_gather_nd = {
	.name = "GatherND",
	OP_PARAMS(MSD_PARAMS_GATHER_ND),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_nd,
};
