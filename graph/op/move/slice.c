/* Slice: pieces along one axis, as in Caffe and MXNet, or ranges of all axes, as in
 * ONNX. */
#include "graph/op/move/slice.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

int64_t msd_op_slice_begin(const modser_sg_node *node)
{
	const struct msd_params_slice p = msd_params_slice(node);

	return p.iscaffe != 0 ? 0 : p.begin;
}

/* The begin and length of a range of @all elements, by Python's slice rules. */
static struct msd_op_range range_of(int64_t all, int64_t begin, int64_t end,
				    int64_t step)
{
	const int64_t low = step < 0 ? -1 : 0; /* limits of the walk */
	const int64_t high = step < 0 ? all - 1 : all;

	begin = begin < 0 ? begin + all : begin;
	end = end < 0 ? end + all : end;
	begin = begin < low ? low : begin > high ? high : begin;
	end = end < low ? low : end > high ? high : end;
	const int64_t way = step < 0 ? begin - end : end - begin;
	const uint64_t size = step < 0 ? -(uint64_t)step : (uint64_t)step;
	const uint64_t n = way <= 0 ? 0 : ((uint64_t)way - 1) / size + 1;
	/* One element needs no step, which may be arbitrarily large. */
	return (struct msd_op_range){begin, n < 2 ? 1 : step, (int64_t)n};
}

int msd_op_slice_ranges(const modser_sg_node *node,
			struct msd_op_range ret[static MODSER_GRAPH_MAX_NDIM])
{
	enum { BEGINS, ENDS, AXES, STEPS };
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t lists[4][MSD_INFER_MAX_INTS];
	size_t n[4] = {0};

	for (size_t i = 0; i < 4; i++) {
		const int result =
			msd_infer_has(node, i + 1)
				? msd_infer_ints(node, i + 1, lists[i], &n[i])
				: 0;

		if (result != 0)
			return result;
	}
	if (n[ENDS] != n[BEGINS] ||
	    (msd_infer_has(node, 3) ? n[AXES] != n[BEGINS] : n[BEGINS] > ndim) ||
	    (msd_infer_has(node, 4) && n[STEPS] != n[BEGINS]))
		return msd_infer_fail(node, "its lists are not of one length");
	for (size_t i = 0; i < ndim; i++)
		ret[i] = (struct msd_op_range){0, 1, msd_infer_dims(node, 0)[i]};
	for (size_t i = 0; i < n[BEGINS]; i++) {
		const int64_t step = msd_infer_has(node, 4) ? lists[STEPS][i] : 1;
		size_t axis = i;

		if (msd_infer_has(node, 3) &&
		    msd_infer_axis_of(node, lists[AXES][i], ndim, &axis) != 0)
			return -1;
		if (step == 0)
			return msd_infer_fail(node, "its step is 0");
		ret[axis] = range_of(msd_infer_dims(node, 0)[axis], lists[BEGINS][i],
				     lists[ENDS][i], step);
	}
	return 0;
}

static int infer_ranges(const modser_sg_node *node)
{
	struct msd_op_range ranges[MODSER_GRAPH_MAX_NDIM];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	const int result = msd_op_slice_ranges(node, ranges);

	if (result != 0)
		return result;
	if (modser_sg_node_output_count(node) != 1 ||
	    modser_sg_node_output(node, 0) == NULL)
		return msd_infer_fail(node, "its number of pieces is not 1");
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++)
		dims[i] = ranges[i].n;
	return msd_infer_set(node, dims, msd_infer_ndim(node, 0));
}

static int set_piece(const modser_sg_node *node, size_t k, size_t axis, int64_t extent)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	const size_t ndim = msd_infer_ndim(node, 0);

	if (modser_sg_node_output(node, k) == NULL)
		return msd_infer_fail(node, "it leaves out a piece");
	if (extent < 1)
		return msd_infer_fail(node, "piece %zu is empty", k);
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[axis] = extent;
	return modser_sg_tensor_set_dims(modser_sg_node_output(node, k), dims, ndim);
}

/* Pieces that end at the given points, or that have equal extents. */
static int infer_caffe(const modser_sg_node *node, size_t axis)
{
	const struct msd_ints points = msd_params_slice(node).slice_points;
	const size_t n = modser_sg_node_output_count(node);
	const int64_t all = msd_infer_dims(node, 0)[axis];
	int64_t begin = 0;

	if (points.n != 0 && points.n != n - 1)
		return msd_infer_fail(node, "%zu points for %zu pieces", points.n, n);
	if (points.n == 0 && all % (int64_t)n != 0)
		return msd_infer_fail(node, "the pieces are not alike");
	for (size_t k = 0; k < n; k++) {
		const int64_t end = k == n - 1      ? all
				    : points.n != 0 ? points.at[k]
						    : begin + all / (int64_t)n;

		if (end > all)
			return msd_infer_fail(node, "its points are not in order");
		if (set_piece(node, k, axis, end - begin) != 0)
			return -1;
		begin = end;
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	const struct msd_params_slice p = msd_params_slice(node);
	size_t axis;

	if (msd_infer_has(node, 1))
		return infer_ranges(node);
	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	if (p.iscaffe != 0)
		return infer_caffe(node, axis);
	const int64_t all = msd_infer_dims(node, 0)[axis];
	int64_t end = p.end;
	if (p.ismxnet == 0 && p.isonnx == 0)
		return msd_infer_fail(node, "neither Caffe's, MXNet's nor ONNX's");
	if (p.step != 1 || modser_sg_node_output_count(node) != 1) {
		return msd_infer_fail(node,
				      "its step or its number of pieces is not 1");
	}
	if (MSD_PARAM_RANGE(node, slice, begin, 0, all - 1) != 0)
		return -1;
	end = end < 0 ? end + all : end > all ? all : end;
	return set_piece(node, 0, axis, end - p.begin);
}

const modser_sg_op_schema msd_op_slice = {
	.name = "Slice",
	OP_PARAMS(MSD_PARAMS_SLICE),
	OP_IN(1, 5),
	.optional_in = 24,
	OP_OUT(1, MODSER_MANY),
	.infer = infer,
};
