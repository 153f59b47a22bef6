/* Reductions, ArgMax, ArgMin and TopK. */
#include "graph/op/reduce/reduce.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/reduce/params.h"

/* Tengine's four fields, -2 if unused. */
static size_t tm_axes(const struct msd_params_reduction *p, int64_t *ret)
{
	const int64_t axes[] = {p->dim_0, p->dim_1, p->dim_2, p->dim_3};
	size_t n = 0;

	for (size_t i = 0; i < OP_COUNT(axes); i++) {
		if (axes[i] != -2)
			ret[n++] = axes[i];
	}
	return n;
}

int msd_op_reduce_axes(const modser_sg_node *node,
		       bool ret[static MODSER_GRAPH_MAX_NDIM])
{
	const struct msd_params_reduction p = msd_params_reduction(node);
	const struct msd_ints own = p.axes;
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t axes[MSD_INFER_MAX_INTS];
	size_t n = 0;

	memset(ret, 0, MODSER_GRAPH_MAX_NDIM * sizeof(*ret));
	if (msd_infer_has(node, 1)) {
		const int result = msd_infer_ints(node, 1, axes, &n);

		if (result != 0)
			return result;
	} else if (own.n > 0 && own.n <= MODSER_GRAPH_MAX_NDIM) {
		n = own.n;
		memcpy(axes, own.at, n * sizeof(*axes));
	} else {
		n = tm_axes(&p, axes);
	}
	for (size_t i = 0; i < n; i++) {
		size_t axis;

		if (msd_infer_axis_of(node, axes[i], ndim, &axis) != 0)
			return -1;
		ret[axis] = true;
	}
	if (n == 0 && p.noop_with_empty_axes == 0)
		memset(ret, 1, ndim * sizeof(*ret));
	return 0;
}

static int set_reduced(const modser_sg_node *node, const bool *goes, bool keeps)
{
	const int64_t *in = msd_infer_dims(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++) {
		if (!goes[i]) {
			dims[n++] = in[i];
		} else if (keeps) {
			dims[n++] = 1;
		}
	}
	return msd_infer_set(node, dims, n);
}

static int infer_reduction(modser_sg_node *node)
{
	bool goes[MODSER_GRAPH_MAX_NDIM];
	const int result = msd_op_reduce_axes(node, goes);

	if (result != 0)
		return result;
	if (MSD_PARAM_RANGE(node, reduction, type, 0, MSD_REDUCE_LOG_SUM_EXP) != 0)
		return -1;
	return set_reduced(node, goes, msd_params_reduction(node).keepdim != 0);
}

const modser_sg_op_schema msd_op_reduction = {
	.name = "Reduction",
	OP_PARAMS(MSD_PARAMS_REDUCTION),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_reduction,
};
static int infer_arg(modser_sg_node *node)
{
	const struct msd_params_arg p = msd_params_arg(node);
	bool goes[MODSER_GRAPH_MAX_NDIM] = {false};
	const int64_t *dims = msd_infer_dims(node, 0);
	bool is_asked = true; /* for an index at all */
	size_t axis;

	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++)
		is_asked = is_asked && (i == axis || dims[i] != 0);
	if (dims[axis] == 0 && is_asked)
		return msd_infer_fail(node, "there is nothing to search");
	goes[axis] = true;
	msd_infer_dtype(node, 0, OP_INT64);
	return set_reduced(node, goes, p.keepdims != 0);
}

const modser_sg_op_schema msd_op_arg_max = {
	.name = "ArgMax",
	OP_PARAMS(MSD_PARAMS_ARG),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_arg,
};

const modser_sg_op_schema msd_op_arg_min = {
	.name = "ArgMin",
	OP_PARAMS(MSD_PARAMS_ARG),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_arg,
};

static int infer_topk(modser_sg_node *node)
{
	const struct msd_params_topk_v2 p = msd_params_topk_v2(node);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t k[MSD_INFER_MAX_INTS] = {p.k};
	size_t n = 1;
	size_t axis;

	msd_infer_dtype(node, 1, OP_INT64);
	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	if (msd_infer_has(node, 1)) {
		const int result = msd_infer_ints(node, 1, k, &n);

		if (result != 0)
			return result;
	}
	memcpy(dims, msd_infer_dims(node, 0), msd_infer_ndim(node, 0) * sizeof(*dims));
	if (n != 1 || k[0] < 0 || k[0] > dims[axis])
		return msd_infer_fail(node, "k is more than there is");
	dims[axis] = k[0];
	if (msd_infer_set_output(node, 1, dims, msd_infer_ndim(node, 0)) != 0)
		return -1;
	return msd_infer_set(node, dims, msd_infer_ndim(node, 0));
}

const modser_sg_op_schema msd_op_topk_v2 = {
	.name = "TopKV2",
	OP_PARAMS(MSD_PARAMS_TOPK_V2),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 2),
	.infer = infer_topk,
};

/* Tengine reduces the axis and all behind it. */
static int infer_reduce_l2(modser_sg_node *node)
{
	const struct msd_params_reduce_l2 p = msd_params_reduce_l2(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	for (size_t i = axis; i < ndim; i++)
		dims[i] = 1;
	return msd_infer_set(node, dims, p.keepdim != 0 ? ndim : axis);
}

const modser_sg_op_schema msd_op_reduce_l2 = {
	.name = "ReduceL2",
	OP_PARAMS(MSD_PARAMS_REDUCE_L2),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_reduce_l2,
};
