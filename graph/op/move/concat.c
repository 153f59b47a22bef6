#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis;

	if (msd_infer_axis(node, msd_params_concat(node).axis, &axis) != 0 ||
	    msd_infer_alike(node, 0, modser_sg_node_input_count(node)) != 0)
		return -1;
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	for (size_t i = 1; i < modser_sg_node_input_count(node); i++) {
		const int64_t *more = msd_infer_dims(node, i);

		if (msd_infer_rank(node, i, ndim) != 0)
			return -1;
		for (size_t k = 0; k < ndim; k++) {
			if (k != axis && more[k] != dims[k]) {
				return msd_infer_fail(
					node, "extent %zu of input %zu is another", k,
					i);
			}
		}
		if (__builtin_add_overflow(dims[axis], more[axis], &dims[axis]))
			return msd_infer_fail(node, "it is too large");
	}
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_concat = {
	.name = "Concat",
	OP_PARAMS(MSD_PARAMS_CONCAT),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	.infer = infer,
};
