#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	const int64_t channels = msd_infer_dims(node, 0)[1];
	if (MSD_PARAM_RANGE(node, shuffle_channel, group, 1, channels) != 0)
		return -1;
	if (channels % msd_params_shuffle_channel(node).group != 0)
		return msd_infer_fail(node, "the groups are not alike");
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_shuffle_channel = {
	.name = "ShuffleChannel",
	OP_PARAMS(MSD_PARAMS_SHUFFLE_CHANNEL),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
