/* A convolution with moved taps: each tap has its own offsets at each position. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"
#include "graph/op/window/window.h"

enum { X, W, OFFSETS, BIAS, MASK };

/* Input @i has @per numbers for each tap of each group of offsets, at each position. */
static int check_moves(const modser_sg_node *node, size_t i, int64_t per)
{
	const int64_t *w = msd_infer_dims(node, W);
	const int64_t groups = msd_params_deformable_convolution(node).offset_group;
	struct msd_op_window axes[MSD_OP_AXES];
	int64_t channels;

	if (msd_infer_rank(node, i, 4) != 0)
		return -1;
	msd_op_conv_windows(node, axes);
	const int64_t *dims = msd_infer_dims(node, i);
	if (__builtin_mul_overflow(w[2], w[3], &channels) ||
	    __builtin_mul_overflow(channels, groups * per, &channels) ||
	    dims[0] != msd_infer_dims(node, X)[0] || dims[1] != channels ||
	    dims[2] != axes[1].out || dims[3] != axes[2].out) {
		return msd_infer_fail(node,
				      "input %zu has not %d for each tap at each place",
				      i, (int)per);
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	const int64_t groups = msd_params_deformable_convolution(node).offset_group;

	if (msd_infer_rank(node, X, 4) != 0 ||
	    msd_infer_alike(node, X, MASK + 1) != 0 ||
	    MSD_PARAM_RANGE(node, deformable_convolution, offset_group, 1, INT32_MAX) !=
		    0 ||
	    msd_op_conv_infer(node, BIAS) != 0)
		return -1;
	if (msd_infer_dims(node, X)[1] % groups != 0) {
		return msd_infer_fail(node,
				      "its channels are no multiple of offset_group");
	}
	if (check_moves(node, OFFSETS, 2) != 0)
		return -1;
	return msd_infer_has(node, MASK) ? check_moves(node, MASK, 1) : 0;
}

const modser_sg_op_schema msd_op_deformable_convolution = {
	.name = "DeformConv",
	OP_PARAMS(MSD_PARAMS_DEFORMABLE_CONVOLUTION),
	OP_IN(3, 5),
	.optional_in = 1u << BIAS | 1u << MASK,
	OP_OUT(1, 1),
	.infer = infer,
};
