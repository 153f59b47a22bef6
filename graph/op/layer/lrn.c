#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field lrn_fields[] = {
	OP_INT("local_size", 5),  OP_FLOAT("alpha", 1), OP_FLOAT("beta", 0.75),
	OP_INT("norm_region", 0), OP_FLOAT("k", 1),     OP_FLOAT("bias", 0),
	OP_INT("is_onnx", 0),
};
static int infer(modser_sg_node *node)
{
	if (msd_infer_ndim(node, 0) < 2)
		return msd_infer_fail(node, "its input has no channels");
	if (msd_infer_range(node, "local_size", 1, INT32_MAX) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_lrn = {
	.name = "LRN",
	OP_FIELDS(lrn_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
