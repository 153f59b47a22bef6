#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const struct msd_params_flatten p = msd_params_flatten(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	const int64_t end = p.end_axis;
	const size_t to = end < 0 || (size_t)end >= ndim ? ndim : (size_t)end + 1;
	const int64_t given = p.axis;
	size_t axis = ndim;

	if (given != (int64_t)ndim && msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	if (to != ndim || axis > to)
		return msd_infer_fail(node, "it does not end with the last axis");
	const int64_t dims[] = {msd_infer_product(node, 0, 0, axis),
				msd_infer_product(node, 0, axis, to)};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_flatten = {
	.name = "Flatten",
	OP_PARAMS(MSD_PARAMS_FLATTEN),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
