#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const float scale = msd_params_upsample(node).scale;

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	if (!(scale >= 1.0f && scale <= 1024.0f))
		return msd_infer_fail(node, "scale is not 1 to 1024");
	const int64_t *in = msd_infer_dims(node, 0);
	if (in[2] > INT32_MAX || in[3] > INT32_MAX)
		return msd_infer_fail(node, "it is too large");
	const int64_t dims[] = {in[0], in[1], (int64_t)((double)in[2] * (double)scale),
				(int64_t)((double)in[3] * (double)scale)};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_upsample = {
	.name = "Upsample",
	OP_PARAMS(MSD_PARAMS_UPSAMPLE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
