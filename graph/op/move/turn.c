/* Operators of Tengine that move elements: Expanddims, SwapAxis, Reverse, StridedSlice,
 * Reorg. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field expanddims_fields[] = {
	OP_INT("axis", 0),
};
static int infer_expanddims(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0) + 1;
	const int64_t *in = msd_infer_dims(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (ndim > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	if (msd_infer_axis_of(node, modser_sg_op_int(modser_sg_node_op(node), "axis"),
			      ndim, &axis) != 0)
		return -1;
	for (size_t i = 0; i < ndim; i++)
		dims[i] = i == axis ? 1 : *in++;
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_expanddims = {
	.name = "Expanddims",
	OP_FIELDS(expanddims_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_expanddims,
};

static const modser_sg_op_field swap_axis_fields[] = {
	OP_INT("dim_0", 0),
	OP_INT("dim_1", 1),
};
static int infer_swap(modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t a;
	size_t b;

	if (msd_infer_axis_of(node, modser_sg_op_int(op, "dim_0"), ndim, &a) != 0 ||
	    msd_infer_axis_of(node, modser_sg_op_int(op, "dim_1"), ndim, &b) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[a] = msd_infer_dims(node, 0)[b];
	dims[b] = msd_infer_dims(node, 0)[a];
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_swap_axis = {
	.name = "SwapAxis",
	OP_FIELDS(swap_axis_fields),
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

static const modser_sg_op_field strided_slice_fields[] = {
	OP_INT("begin_n", 0), OP_INT("end_n", 0), OP_INT("stride_n", 1),
	OP_INT("begin_c", 0), OP_INT("end_c", 0), OP_INT("stride_c", 1),
	OP_INT("begin_h", 0), OP_INT("end_h", 0), OP_INT("stride_h", 1),
	OP_INT("begin_w", 0), OP_INT("end_w", 0), OP_INT("stride_w", 1),
};
/* An end is 0, the extent, or counted back from it: Tengine takes as many elements
 * less as begin and end are apart, and one if none is left. */
static int infer_strided_slice(modser_sg_node *node)
{
	static const char *const names[4][3] = {{"begin_n", "end_n", "stride_n"},
						{"begin_c", "end_c", "stride_c"},
						{"begin_h", "end_h", "stride_h"},
						{"begin_w", "end_w", "stride_w"}};
	const modser_sg_op *op = modser_sg_node_op(node);
	int64_t dims[4];

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		const int64_t in = msd_infer_dims(node, 0)[i];

		if (msd_infer_range(node, names[i][0], 0, in) != 0 ||
		    msd_infer_range(node, names[i][1], -in, in) != 0 ||
		    msd_infer_range(node, names[i][2], 1, INT32_MAX) != 0)
			return -1;
		const int64_t begin = modser_sg_op_int(op, names[i][0]);
		const int64_t end = modser_sg_op_int(op, names[i][1]);
		const int64_t stride = modser_sg_op_int(op, names[i][2]);
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
	OP_FIELDS(strided_slice_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_strided_slice,
};

static const modser_sg_op_field reorg_fields[] = {
	OP_INT("stride", 1),
};
static int infer_reorg(modser_sg_node *node)
{
	int64_t dims[4];

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), sizeof(dims));
	if (msd_infer_range(node, "stride", 1, INT16_MAX) != 0)
		return -1;
	const int64_t stride = modser_sg_op_int(modser_sg_node_op(node), "stride");
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
	OP_FIELDS(reorg_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_reorg,
};
