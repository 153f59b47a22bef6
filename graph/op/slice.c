#include "graph/op/slice.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field slice_fields[] = {
	OP_INT("axis", 0, 0),    OP_INTS("slice_points", 4), OP_INTS("begins", 8),
	OP_INTS("sizes", 12),    OP_INT("iscaffe", 0, 16),   OP_INT("ismxnet", 0, 20),
	OP_INT("isonnx", 0, 24), OP_INT("begin", 0, 28),     OP_INT("end", 0, 32),
	OP_INT("step", 1, 36),
};
int64_t msd_op_slice_begin(const modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);

	return modser_sg_op_int(op, "iscaffe") != 0 ? 0 : modser_sg_op_int(op, "begin");
}

static int set_piece(const modser_sg_node *node, size_t k, size_t axis, int64_t extent)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	const size_t ndim = msd_infer_ndim(node, 0);

	if (extent < 1)
		return msd_infer_fail(node, "piece %zu is empty", k);
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	dims[axis] = extent;
	return modser_sg_tensor_set_dims(modser_sg_node_output(node, k), dims, ndim);
}

/* Pieces that end at the points, or that are alike. */
static int infer_caffe(const modser_sg_node *node, size_t axis)
{
	const modser_sg_attr *points =
		modser_sg_op_param(modser_sg_node_op(node), "slice_points");
	const size_t n = modser_sg_node_output_count(node);
	const int64_t all = msd_infer_dims(node, 0)[axis];
	int64_t begin = 0;

	if (points->n != 0 && points->n != n - 1)
		return msd_infer_fail(node, "%zu points for %zu pieces", points->n, n);
	if (points->n == 0 && all % (int64_t)n != 0)
		return msd_infer_fail(node, "the pieces are not alike");
	for (size_t k = 0; k < n; k++) {
		const int64_t end = k == n - 1       ? all
				    : points->n != 0 ? points->as.ints[k]
						     : begin + all / (int64_t)n;

		if (end > all || set_piece(node, k, axis, end - begin) != 0)
			return msd_infer_fail(node, "its points are not in order");
		begin = end;
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	size_t axis;

	if (msd_infer_axis(node, &axis) != 0)
		return -1;
	if (modser_sg_op_int(op, "iscaffe") != 0)
		return infer_caffe(node, axis);
	const int64_t all = msd_infer_dims(node, 0)[axis];
	int64_t end = modser_sg_op_int(op, "end");
	if (modser_sg_op_int(op, "ismxnet") == 0 && modser_sg_op_int(op, "isonnx") == 0)
		return msd_infer_fail(node, "neither Caffe's, MXNet's nor ONNX's");
	if (modser_sg_op_int(op, "step") != 1 ||
	    modser_sg_node_output_count(node) != 1) {
		return msd_infer_fail(node,
				      "its step or its number of pieces is not 1");
	}
	if (msd_infer_range(node, "begin", 0, all - 1) != 0)
		return -1;
	end = end < 0 ? end + all : end > all ? all : end;
	return set_piece(node, 0, axis, end - modser_sg_op_int(op, "begin"));
}

const modser_sg_op_schema msd_op_slice = {
	.name = "Slice",
	OP_FIELDS(slice_fields),
	OP_IN(1, 1),
	OP_OUT(1, MODSER_MANY),
	OP_TM(27, 40),
	.infer = infer,
};
