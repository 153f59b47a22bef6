#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

/* A scale of 0 means that the extent is given. */
static int64_t extent(int64_t in, double scale, int64_t output)
{
	if (scale == 0)
		return output;
	if (!(scale > 0 && scale <= 1024) || in > INT32_MAX)
		return 0;
	return (int64_t)((double)in * scale);
}

static int infer(modser_sg_node *node)
{
	const struct msd_params_interp p = msd_params_interp(node);
	const int64_t type = p.resize_type;

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	if (type != 1 && type != 2 && type != 4)
		return msd_infer_fail(node, "resize_type is none of 1, 2 and 4");
	const int64_t *in = msd_infer_dims(node, 0);
	const int64_t dims[] = {in[0], in[1],
				extent(in[2], (double)p.height_scale, p.output_height),
				extent(in[3], (double)p.width_scale, p.output_width)};
	if (dims[2] < 1 || dims[3] < 1)
		return msd_infer_fail(node, "what it makes has no extent");
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_interp = {
	.name = "Interp",
	OP_PARAMS(MSD_PARAMS_INTERP),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
