/* Operators of Tengine that move elements: Expanddims, SwapAxis, Reverse, StridedSlice,
 * Reorg. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer_expanddims(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0) + 1;
	const int64_t *in = msd_infer_dims(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (ndim > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	if (msd_infer_axis_of(node, msd_params_expanddims(node).axis, ndim, &axis) != 0)
		return -1;
	for (size_t i = 0; i < ndim; i++)
		dims[i] = i == axis ? 1 : *in++;
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_expanddims = {
	.name = "Expanddims",
	OP_PARAMS(MSD_PARAMS_EXPANDDIMS),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_expanddims,
};

static int infer_swap(modser_sg_node *node)
{
	const struct msd_params_swap_axis p = msd_params_swap_axis(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t a;
	size_t b;

	if (msd_infer_axis_of(node, p.dim_0, ndim, &a) != 0 ||
	    msd_infer_axis_of(node, p.dim_1, ndim, &b) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[a] = msd_infer_dims(node, 0)[b];
	dims[b] = msd_infer_dims(node, 0)[a];
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_swap_axis = {
	.name = "SwapAxis",
	OP_PARAMS(MSD_PARAMS_SWAP_AXIS),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_swap,
};

/* The axis is the first number of input 1. */
static int infer_reverse(modser_sg_node *node)
{
	if (msd_infer_dtype_of(node, 1).code != MSD_DT_INT ||
	    msd_infer_dtype_of(node, 1).bits < 32 ||
	    msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 1)
		return msd_infer_fail(node, "input 1 is not one int32 or int64");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_reverse = {
	.name = "Reverse",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_reverse,
};

/* An end is 0, the extent, or counted back from it: Tengine takes as many elements
 * less as begin and end are apart, and one if none is left. */
static int infer_strided_slice(modser_sg_node *node)
{
	static const char *const names[4][3] = {{"begin_n", "end_n", "stride_n"},
						{"begin_c", "end_c", "stride_c"},
						{"begin_h", "end_h", "stride_h"},
						{"begin_w", "end_w", "stride_w"}};
	const struct msd_params_strided_slice p = msd_params_strided_slice(node);
	const int64_t values[4][3] = {{p.begin_n, p.end_n, p.stride_n},
				      {p.begin_c, p.end_c, p.stride_c},
				      {p.begin_h, p.end_h, p.stride_h},
				      {p.begin_w, p.end_w, p.stride_w}};
	int64_t dims[4];

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		const int64_t begin = values[i][0];
		const int64_t end = values[i][1];
		const int64_t stride = values[i][2];
		const int64_t in = msd_infer_dims(node, 0)[i];

		if (msd_infer_range(node, names[i][0], begin, 0, in) != 0 ||
		    msd_infer_range(node, names[i][1], end, -in, in) != 0 ||
		    msd_infer_range(node, names[i][2], stride, 1, INT32_MAX) != 0)
			return -1;
		const int64_t apart = begin < end ? end - begin : begin - end;

		dims[i] = (in - apart + stride - 1) / stride;
		dims[i] = dims[i] < 1 ? 1 : dims[i];
		if (begin + (dims[i] - 1) * stride >= in) {
			return msd_infer_fail(node, "%s and %s reach beyond axis %zu",
					      names[i][0], names[i][1], i);
		}
	}
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_strided_slice = {
	.name = "StridedSlice",
	OP_PARAMS(MSD_PARAMS_STRIDED_SLICE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_strided_slice,
};

static int infer_reorg(modser_sg_node *node)
{
	int64_t dims[4];

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), sizeof(dims));
	if (MSD_PARAM_RANGE(node, reorg, stride, 1, INT16_MAX) != 0)
		return -1;
	const int64_t stride = msd_params_reorg(node).stride;
	if (dims[1] % (stride * stride) != 0 || dims[2] % stride != 0 ||
	    dims[3] % stride != 0)
		return msd_infer_fail(node, "its extents are not multiples of stride");
	dims[1] *= stride * stride;
	dims[2] /= stride;
	dims[3] /= stride;
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_reorg = {
	.name = "Reorg",
	OP_PARAMS(MSD_PARAMS_REORG),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_reorg,
};
