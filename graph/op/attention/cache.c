/* TensorScatter: write rows into a cache of keys or values. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/attention/params.h"
#include "graph/op/op.h"

static int check_indices(const modser_sg_node *node)
{
	if (!msd_infer_has(node, 2))
		return 0;
	if (msd_infer_indices(node, 2) != 0 || msd_infer_rank(node, 2, 1) != 0)
		return -1;
	return msd_infer_dims(node, 2)[0] == msd_infer_dims(node, 0)[0]
		       ? 0
		       : msd_infer_fail(node, "it has not one index for each entry of "
					      "the batch");
}

static int infer_tensor_scatter(modser_sg_node *node)
{
	const struct msd_params_tensor_scatter p = msd_params_tensor_scatter(node);
	const char *mode = p.mode;
	size_t axis;

	if (strcmp(mode, "linear") != 0 && strcmp(mode, "circular") != 0)
		return msd_infer_fail(node, "mode \"%s\" is not known", mode);
	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	if (axis == 0)
		return msd_infer_fail(node, "its axis is that of the batch");
	if (msd_infer_rank(node, 1, msd_infer_ndim(node, 0)) != 0 ||
	    msd_infer_alike(node, 0, 2) != 0)
		return -1;
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++) {
		const int64_t n = msd_infer_dims(node, 1)[i];
		const int64_t room = msd_infer_dims(node, 0)[i];

		if (n > room || (i != axis && n != room)) {
			return msd_infer_fail(node, "its update does not fit axis %zu",
					      i);
		}
	}
	return check_indices(node) == 0 ? msd_infer_same(node) : -1;
}

const modser_sg_op_schema msd_op_tensor_scatter = {
	.name = "TensorScatter",
	OP_PARAMS(MSD_PARAMS_TENSOR_SCATTER),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer_tensor_scatter,
};
