/* Write updates into a copy of a tensor by indices: Scatter, ScatterND. */
#include "graph/op/index/scatter.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/op.h"

int msd_op_scatter_how(const modser_sg_node *node, const char *how,
		       enum msd_op_scatter *ret)
{
	static const char *const names[] = {"none", "add", "mul", "max", "min"};

	for (size_t i = 0; i < OP_COUNT(names); i++) {
		if (strcmp(names[i], how) == 0) {
			*ret = (enum msd_op_scatter)i;
			return 0;
		}
	}
	return msd_infer_fail(node, "reduction \"%s\" is not known", how);
}

/*
 * Check that the updates have the dtype of the input, and that the indices are valid.
 */
static int check(const modser_sg_node *node, const char *reduction)
{
	enum msd_op_scatter how;

	if (msd_op_scatter_how(node, reduction, &how) != 0)
		return -1;
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 0), msd_infer_dtype_of(node, 2)))
		return msd_infer_fail(node, "its updates are of another type");
	return msd_infer_indices(node, 1);
}

static int infer_scatter(modser_sg_node *node)
{
	const int64_t *at = msd_infer_dims(node, 1);
	const size_t ndim = msd_infer_ndim(node, 1);
	size_t axis;

	if (check(node, msd_params_scatter(node).reduction) != 0 ||
	    msd_infer_axis(node, msd_params_scatter(node).axis, &axis) != 0 ||
	    msd_infer_inside(node, 1, axis) != 0 || msd_infer_rank(node, 2, ndim) != 0)
		return -1;
	if (ndim > 0 && memcmp(at, msd_infer_dims(node, 2), ndim * sizeof(*at)) != 0)
		return msd_infer_fail(node, "it has not one update for each index");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_scatter = {
	.name = "Scatter",
	OP_PARAMS(MSD_PARAMS_SCATTER),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_scatter,
};

/* An update has the shape of the part of the input that its index tuple selects. */
static int infer_scatter_nd(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n_indices = msd_infer_ndim(node, 1);
	const int64_t *at = msd_infer_dims(node, 1);
	int64_t dims[2 * MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	if (check(node, msd_params_scatter_nd(node).reduction) != 0)
		return -1;
	if (n_indices == 0 || at[n_indices - 1] > (int64_t)ndim) {
		return msd_infer_fail(node,
				      "its indices name more axes than there are");
	}
	for (size_t i = 0; i + 1 < n_indices; i++)
		dims[n++] = at[i];
	for (size_t i = (size_t)at[n_indices - 1]; i < ndim; i++)
		dims[n++] = msd_infer_dims(node, 0)[i];
	if (msd_infer_rank(node, 2, n) != 0)
		return -1;
	if (n > 0 && memcmp(dims, msd_infer_dims(node, 2), n * sizeof(*dims)) != 0)
		return msd_infer_fail(node, "its updates do not fit its indices");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_scatter_nd = {
	.name = "ScatterND",
	OP_PARAMS(MSD_PARAMS_SCATTER_ND),
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_scatter_nd,
};
