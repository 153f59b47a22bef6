/* Operators with a number for each channel: BroadMul, Bias, Scale. */
#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const int64_t n = msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1));

	if (ndim < 2 || n != msd_infer_dims(node, 0)[1]) {
		return msd_infer_fail(node,
				      "input 1 has not an element for each channel");
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_broad_mul = {
	.name = "BroadMul",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};

const modser_sg_op_schema msd_op_bias = {
	.name = "Bias",
	OP_PARAMS(MSD_PARAMS_BIAS),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};

/* Factors, and what is added, go with `num_axes` axes from `axis` on; -1 are all. */
static int infer_scale(modser_sg_node *node)
{
	const struct msd_params_scale p = msd_params_scale(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	size_t axis;

	if (msd_infer_axis(node, p.axis, &axis) != 0 ||
	    MSD_PARAM_RANGE(node, scale, num_axes, -1, (int64_t)(ndim - axis)) != 0)
		return -1;
	const int64_t n = p.num_axes;
	const size_t to = n < 0 ? ndim : axis + (size_t)n;
	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		if (msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) !=
		    msd_infer_product(node, 0, axis, to)) {
			return msd_infer_fail(
				node,
				"input %zu has not an element for each place of "
				"its axes",
				i);
		}
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_scale = {
	.name = "Scale",
	OP_PARAMS(MSD_PARAMS_SCALE),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer_scale,
};
