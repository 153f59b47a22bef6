#include "graph/op/move/pad.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field pad_fields[] = {
	OP_INT("pad_n_0", 0), OP_INT("pad_n_1", 0), OP_INT("pad_c_0", 0),
	OP_INT("pad_c_1", 0), OP_INT("pad_h_0", 0), OP_INT("pad_h_1", 0),
	OP_INT("pad_w_0", 0), OP_INT("pad_w_1", 0), OP_INT("mode", 0),
	OP_FLOAT("value", 0),
};

static int tm_amounts(const modser_sg_node *node, struct msd_op_pads *ret)
{
	const modser_sg_op *op = modser_sg_node_op(node);

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) { /* the fields are in this order */
		ret->before[i] = modser_sg_op_int(op, pad_fields[2 * i].name);
		ret->after[i] = modser_sg_op_int(op, pad_fields[2 * i + 1].name);
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
	const int64_t mode = modser_sg_op_int(modser_sg_node_op(node), "mode");
	const int64_t *in = msd_infer_dims(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	struct msd_op_pads pads;
	const int result = msd_op_pad_amounts(node, &pads);

	if (result != 0)
		return result;
	if (msd_infer_range(node, "mode", 0, MSD_PAD_WRAP) != 0)
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
	OP_FIELDS(pad_fields),
	OP_IN(1, 4),
	.optional_in = 12,
	OP_OUT(1, 1),
	.infer = infer,
};
