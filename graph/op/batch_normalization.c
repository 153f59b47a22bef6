#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field batch_normalization_fields[] = {
	OP_FLOAT("rescale_factor", 1, 0),
	OP_FLOAT("eps", 1e-5, 4),
	OP_INT("caffe_flavor", 0, 8),
};
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
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_batch_normalization = {
	.name = "BatchNormalization",
	OP_FIELDS(batch_normalization_fields),
	OP_IN(5, 5),
	OP_OUT(1, 1),
	OP_TM(1, 12),
	.infer = infer,
};
