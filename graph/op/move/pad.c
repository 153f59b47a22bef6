#include "graph/op/move/pad.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int tm_amounts(const modser_sg_node *node, struct msd_op_pads *ret)
{
	const struct msd_params_pad p = msd_params_pad(node);
	const int64_t pads[4][2] = {{p.pad_n_0, p.pad_n_1},
				    {p.pad_c_0, p.pad_c_1},
				    {p.pad_h_0, p.pad_h_1},
				    {p.pad_w_0, p.pad_w_1}};

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		ret->before[i] = pads[i][0];
		ret->after[i] = pads[i][1];
	}
	return 0;
}

int msd_op_pad_amounts(const modser_sg_node *node, struct msd_op_pads *ret)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t pads[MSD_INFER_MAX_INTS];
	int64_t axes[MSD_INFER_MAX_INTS];
	size_t n_pads;
	size_t n = ndim;
	int result = 0;

	memset(ret, 0, sizeof(*ret));
	if (!msd_infer_has(node, 1))
		return tm_amounts(node, ret);
	for (size_t i = 0; i < ndim; i++)
		axes[i] = (int64_t)i;
	if (msd_infer_has(node, 3))
		result = msd_infer_ints(node, 3, axes, &n);
	if (result == 0)
		result = msd_infer_ints(node, 1, pads, &n_pads);
	if (result != 0)
		return result;
	if (n_pads != 2 * n)
		return msd_infer_fail(node, "%zu numbers for %zu axes", n_pads, n);
	for (size_t i = 0; i < n; i++) {
		size_t axis;

		if (msd_infer_axis_of(node, axes[i], ndim, &axis) != 0)
			return -1;
		ret->before[axis] = pads[i];
		ret->after[axis] = pads[n + i];
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	const int64_t mode = msd_params_pad(node).mode;
	const int64_t *in = msd_infer_dims(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	struct msd_op_pads pads;
	const int result = msd_op_pad_amounts(node, &pads);

	if (result != 0)
		return result;
	if (MSD_PARAM_RANGE(node, pad, mode, 0, MSD_PAD_WRAP) != 0)
		return -1;
	if (msd_infer_has(node, 2) &&
	    (!msd_dtype_eq(msd_infer_dtype_of(node, 2), msd_infer_dtype_of(node, 0)) ||
	     msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != 1))
		return msd_infer_fail(node, "what it pads with is not one element");
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++) {
		if (__builtin_add_overflow(in[i], pads.before[i], &dims[i]) ||
		    __builtin_add_overflow(dims[i], pads.after[i], &dims[i]) ||
		    dims[i] < 0)
			return msd_infer_fail(node, "extent %zu cannot be", i);
		if (mode != MSD_PAD_CONSTANT && dims[i] > 0 && in[i] == 0)
			return msd_infer_fail(node, "there is nothing to repeat");
	}
	return msd_infer_set(node, dims, msd_infer_ndim(node, 0));
}

const modser_sg_op_schema msd_op_pad = {
	.name = "Pad",
	OP_PARAMS(MSD_PARAMS_PAD),
	OP_IN(1, 4),
	.optional_in = 12,
	OP_OUT(1, 1),
	.infer = infer,
};
