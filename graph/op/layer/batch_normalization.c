#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

/* Outputs of training: the mean and the variance of each channel. */
static int infer_moments(modser_sg_node *node)
{
	const int64_t channels = msd_infer_dims(node, 0)[1];

	for (size_t k = 1; k < modser_sg_node_output_count(node); k++) {
		if (msd_params_batch_normalization(node).training_mode == 0)
			return msd_infer_fail(node, "it has outputs for training");
		msd_infer_dtype(node, k, msd_infer_dtype_of(node, k + 2));
		if (msd_infer_set_output(node, k, &channels, 1) != 0)
			return -1;
	}
	return 0;
}

static int infer(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	for (size_t i = 1; i < 5; i++) {
		if (msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) !=
		    msd_infer_dims(node, 0)[1]) {
			return msd_infer_fail(
				node, "input %zu has not an element for each channel",
				i);
		}
	}
	return infer_moments(node) == 0 ? msd_infer_same(node) : -1;
}

const modser_sg_op_schema msd_op_batch_normalization = {
	.name = "BatchNormalization",
	OP_PARAMS(MSD_PARAMS_BATCH_NORMALIZATION),
	OP_IN(5, 5),
	OP_OUT(1, 3),
	.infer = infer,
};
