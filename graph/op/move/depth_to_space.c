/* DepthToSpace and SpaceToDepth: move channels into spatial blocks, and back. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

/* Depth, column, row; or column, row, depth. */
static int check_mode(const modser_sg_node *node, const char *mode)
{
	return strcmp(mode, "DCR") == 0 || strcmp(mode, "CRD") == 0
		       ? 0
		       : msd_infer_fail(node, "mode \"%s\" is not known", mode);
}

static int infer_depth(modser_sg_node *node)
{
	const struct msd_params_depth_to_space p = msd_params_depth_to_space(node);
	const int64_t block = p.block_size;
	int64_t dims[4];

	if (check_mode(node, p.mode) != 0 || msd_infer_rank(node, 0, 4) != 0 ||
	    MSD_PARAM_RANGE(node, depth_to_space, block_size, 1, INT16_MAX) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), sizeof(dims));
	if (dims[1] % (block * block) != 0)
		return msd_infer_fail(node, "its channels make no squares");
	dims[1] /= block * block;
	if (__builtin_mul_overflow(dims[2], block, &dims[2]) ||
	    __builtin_mul_overflow(dims[3], block, &dims[3]))
		return msd_infer_fail(node, "it is too large");
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_depth_to_space = {
	.name = "DepthToSpace",
	OP_PARAMS(MSD_PARAMS_DEPTH_TO_SPACE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_depth,
};

static int infer_space(modser_sg_node *node)
{
	const struct msd_params_space_to_depth p = msd_params_space_to_depth(node);
	const int64_t block = p.block_size;
	int64_t dims[4];

	if (check_mode(node, p.mode) != 0 || msd_infer_rank(node, 0, 4) != 0 ||
	    MSD_PARAM_RANGE(node, space_to_depth, block_size, 1, INT16_MAX) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), sizeof(dims));
	if (dims[2] % block != 0 || dims[3] % block != 0)
		return msd_infer_fail(node, "its planes are not made of squares");
	if (__builtin_mul_overflow(dims[1], block * block, &dims[1]))
		return msd_infer_fail(node, "it is too large");
	dims[2] /= block;
	dims[3] /= block;
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_space_to_depth = {
	.name = "SpaceToDepth",
	OP_PARAMS(MSD_PARAMS_SPACE_TO_DEPTH),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_space,
};
