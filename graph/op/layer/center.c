/* CenterCropPad: crop or pad some axes around their center to given extents. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const struct msd_ints axes = msd_params_center_crop_pad(node).axes;
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t sizes[MSD_INFER_MAX_INTS] = {0};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;
	const int result = msd_infer_ints(node, 1, sizes, &n);

	if (result != 0)
		return result;
	if (n != (axes.n > 0 ? axes.n : ndim))
		return msd_infer_fail(node, "it has not one size for each axis");
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	for (size_t i = 0; i < n; i++) {
		size_t axis = i;

		if (axes.n > 0 && msd_infer_axis_of(node, axes.at[i], ndim, &axis) != 0)
			return -1;
		if (sizes[i] < 0 || sizes[i] > INT32_MAX)
			return msd_infer_fail(node, "size %zu cannot be", i);
		dims[axis] = sizes[i];
	}
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_center_crop_pad = {
	.name = "CenterCropPad",
	OP_PARAMS(MSD_PARAMS_CENTER_CROP_PAD),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
