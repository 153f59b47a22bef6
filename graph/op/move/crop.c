#include "graph/op/move/crop.h"

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static bool is_mxnet(const modser_sg_node *node)
{
	return msd_params_crop(node).flag == 1;
}

void msd_op_crop_offsets(const modser_sg_node *node, int64_t ret[4])
{
	const struct msd_params_crop p = msd_params_crop(node);
	const int64_t own[] = {0, p.offset_c, p.offset_h, p.offset_w};
	const int64_t *in = modser_sg_tensor_dims(modser_sg_node_input(node, 0));
	const int64_t *out = modser_sg_tensor_dims(modser_sg_node_output(node, 0));
	const bool is_centre = is_mxnet(node) && p.num_args == 1;
	const int64_t first = is_mxnet(node) ? 2 : p.axis;

	for (int64_t i = 0; i < 4; i++) {
		ret[i] = 0;
		if (i >= first && i > 0)
			ret[i] = is_centre ? (in[i] - out[i]) / 2 : own[i];
	}
}

/* Extents from the axis on are taken from the second input or from the parameters. */
static int find_dims(const modser_sg_node *node, int64_t dims[4])
{
	const struct msd_params_crop p = msd_params_crop(node);
	const bool has_like = modser_sg_node_input_count(node) == 2;
	const int64_t first = is_mxnet(node) ? 2 : p.axis;

	if (!has_like && !is_mxnet(node))
		return msd_infer_fail(node, "it needs a second input");
	if (has_like && msd_infer_rank(node, 1, 4) != 0)
		return -1;
	for (int64_t i = 0; i < 4; i++) {
		dims[i] = i < first  ? msd_infer_dims(node, 0)[i]
			  : has_like ? msd_infer_dims(node, 1)[i]
			  : i == 2   ? p.crop_h
				     : p.crop_w;
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	int64_t dims[4] = {0};
	int64_t at[4] = {0};

	if (msd_infer_rank(node, 0, 4) != 0 ||
	    (!is_mxnet(node) && MSD_PARAM_RANGE(node, crop, axis, 1, 3) != 0) ||
	    find_dims(node, dims) != 0 || msd_infer_set(node, dims, 4) != 0)
		return -1;
	const int64_t *in = msd_infer_dims(node, 0);
	msd_op_crop_offsets(node, at);
	for (size_t i = 0; i < 4; i++) {
		if (at[i] < 0 || at[i] > in[i] || dims[i] > in[i] - at[i])
			return msd_infer_fail(node, "it crops what is not there");
	}
	return 0;
}

const modser_sg_op_schema msd_op_crop = {
	.name = "Crop",
	OP_PARAMS(MSD_PARAMS_CROP),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
