/* RMSNorm: divide by the root of the mean of the squares. */
#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

/* The scale broadcasts to the input. */
static int infer_rms_norm(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n = msd_infer_ndim(node, 1);
	size_t axis;

	if (msd_infer_axis(node, msd_params_rms_norm(node).axis, &axis) != 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const int64_t scale = msd_infer_dims(node, 1)[n - 1 - i];

		if (i >= ndim ||
		    (scale != 1 && scale != msd_infer_dims(node, 0)[ndim - 1 - i]))
			return msd_infer_fail(node, "its scale does not fit its input");
	}
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_rms_norm = {
	.name = "RMSNorm",
	OP_PARAMS(MSD_PARAMS_RMS_NORM),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_rms_norm,
};
