/* AffineGrid: the sampling points of a GridSample, transformed by one matrix an
 * image. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/window/params.h"

static int infer(modser_sg_node *node)
{
	int64_t sizes[MSD_INFER_MAX_INTS] = {0};
	int64_t dims[5] = {0};
	size_t n = 0;

	if (msd_infer_rank(node, 0, 3) != 0)
		return -1;
	const int result = msd_infer_ints(node, 1, sizes, &n);
	if (result != 0)
		return result;
	const int64_t *matrix = msd_infer_dims(node, 0);
	if ((n != 4 && n != 5) || matrix[0] != sizes[0] ||
	    matrix[1] != (int64_t)n - 2 || matrix[2] != (int64_t)n - 1)
		return msd_infer_fail(node, "its matrices do not fit its size");
	for (size_t i = 0; i < n; i++) {
		if (sizes[i] < 0 || sizes[i] > INT32_MAX)
			return msd_infer_fail(node, "size %zu cannot be", i);
	}
	dims[0] = sizes[0];
	for (size_t i = 2; i < n; i++)
		dims[i - 1] = sizes[i];
	dims[n - 1] = (int64_t)n - 2;
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_affine_grid = {
	.name = "AffineGrid",
	OP_PARAMS(MSD_PARAMS_AFFINE_GRID),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
