/* Swish, which may gate a second input (SwiGLU). */
#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

static int infer_swish(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);

	if (!msd_infer_has(node, 1))
		return msd_infer_same(node);
	if (msd_infer_alike(node, 0, 2) != 0 || msd_infer_rank(node, 1, ndim) != 0)
		return -1;
	for (size_t i = 0; i < ndim; i++) {
		if (msd_infer_dims(node, 0)[i] != msd_infer_dims(node, 1)[i])
			return msd_infer_fail(node, "its inputs differ in axis %zu", i);
	}
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_swish = {
	.name = "Swish",
	OP_PARAMS(MSD_PARAMS_SWISH),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_swish,
};
