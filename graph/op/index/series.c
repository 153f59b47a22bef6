/* Sequences along one axis: Range, CumSum (or products), ReverseSequence. */
#include <math.h>

#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/op.h"

/* The count of numbers from the first to before the limit. */
static int infer_range(modser_sg_node *node)
{
	double v[3];

	if (msd_infer_alike(node, 0, 3) != 0)
		return -1;
	for (size_t i = 0; i < 3; i++) {
		const int result = msd_infer_number(node, i, &v[i]);

		if (result != 0)
			return result;
	}
	const double n = ceil((v[1] - v[0]) / v[2]);
	if (!(fabs(n) < 0x1p53)) /* NaN, too: a step of 0 */
		return msd_infer_fail(node, "it has no end");
	const int64_t dims[] = {n > 0 ? (int64_t)n : 0};
	return msd_infer_set(node, dims, 1);
}

const modser_sg_op_schema msd_op_range = {
	.name = "Range",
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_range,
};

static int infer_cum_sum(modser_sg_node *node)
{
	if (msd_infer_indices(node, 1) != 0)
		return -1;
	if (msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 1)
		return msd_infer_fail(node, "its axis is not one number");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_cum_sum = {
	.name = "CumSum",
	OP_PARAMS(MSD_PARAMS_CUM_SUM),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_cum_sum,
};

static int infer_reverse_sequence(modser_sg_node *node)
{
	const struct msd_params_reverse_sequence p = msd_params_reverse_sequence(node);
	const int64_t batch = p.batch_axis;

	if (MSD_PARAM_RANGE(node, reverse_sequence, batch_axis, 0, 1) != 0 ||
	    MSD_PARAM_RANGE(node, reverse_sequence, time_axis, 0, 1) != 0 ||
	    msd_infer_indices(node, 1) != 0 || msd_infer_rank(node, 1, 1) != 0)
		return -1;
	if (p.time_axis == batch || msd_infer_ndim(node, 0) < 2 ||
	    msd_infer_dims(node, 0)[batch] != msd_infer_dims(node, 1)[0])
		return msd_infer_fail(node, "its lengths do not fit its axes");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_reverse_sequence = {
	.name = "ReverseSequence",
	OP_PARAMS(MSD_PARAMS_REVERSE_SEQUENCE),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_reverse_sequence,
};
