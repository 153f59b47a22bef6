/* MeanVarianceNormalization over the axes that it names. */
#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const struct msd_ints axes = msd_params_mean_variance(node).axes;
	size_t axis;

	for (size_t i = 0; i < axes.n; i++) {
		if (msd_infer_axis_of(node, axes.at[i], msd_infer_ndim(node, 0),
				      &axis) != 0)
			return -1;
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_mean_variance = {
	.name = "MeanVarianceNormalization",
	OP_PARAMS(MSD_PARAMS_MEAN_VARIANCE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
