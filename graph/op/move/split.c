#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

/* The extents of the pieces: given, or equal except the last. */
static int read_sizes(const modser_sg_node *node, int64_t all, int64_t *sizes)
{
	const struct msd_ints own = msd_params_split(node).sizes;
	const size_t n = modser_sg_node_output_count(node);
	const int64_t step = (all + (int64_t)n - 1) / (int64_t)n;
	size_t n_sizes = own.n;

	if (n > MSD_INFER_MAX_INTS || n_sizes > MSD_INFER_MAX_INTS)
		return msd_infer_fail(node, "it has too many pieces");
	if (msd_infer_has(node, 1)) {
		const int result = msd_infer_ints(node, 1, sizes, &n_sizes);

		if (result != 0)
			return result;
	} else if (own.n > 0) {
		memcpy(sizes, own.at, own.n * sizeof(*sizes));
	} else {
		for (size_t i = 0; i < n; i++) {
			const int64_t left = all - step * (int64_t)i;

			sizes[i] = left < 0 ? 0 : left < step ? left : step;
		}
		n_sizes = n;
	}
	if (n_sizes != n)
		return msd_infer_fail(node, "%zu sizes for %zu pieces", n_sizes, n);
	return 0;
}

static int infer(modser_sg_node *node)
{
	const struct msd_params_split p = msd_params_split(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t sizes[MSD_INFER_MAX_INTS] = {0};
	size_t axis;

	if (p.is_caffe != 0)
		return msd_infer_fail(node, "Caffe's form cannot be run");
	if (msd_infer_axis(node, p.axis, &axis) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	int64_t left = dims[axis];
	const int result = read_sizes(node, left, sizes);
	if (result != 0)
		return result;
	for (size_t i = 0; i < modser_sg_node_output_count(node); i++) {
		if (sizes[i] < 0 || sizes[i] > left)
			return msd_infer_fail(node, "its pieces are not its input");
		if (modser_sg_node_output(node, i) == NULL)
			return msd_infer_fail(node, "it leaves out a piece");
		left -= sizes[i];
		dims[axis] = sizes[i];
		if (msd_infer_set_output(node, i, dims, ndim) != 0)
			return -1;
	}
	return left == 0 ? 0 : msd_infer_fail(node, "its pieces are not its input");
}

const modser_sg_op_schema msd_op_split = {
	.name = "Split",
	OP_PARAMS(MSD_PARAMS_SPLIT),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, MODSER_MANY),
	.infer = infer,
};
