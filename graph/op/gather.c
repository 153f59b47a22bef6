#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field gather_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("indices_num", 0, 4),
	OP_BYTE("is_onnx", 0, 8),
};
static int infer(modser_sg_node *node)
{
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[2 * MODSER_GRAPH_MAX_NDIM];
	size_t axis;
	size_t n = 0;

	if (!msd_infer_has(node, 1))
		return msd_infer_fail(node, "it has no indices");
	if (msd_infer_axis(node, &axis) != 0)
		return -1;
	const size_t n_indices = msd_infer_ndim(node, 1);
	if (ndim + n_indices - 1 > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	const struct msd_dtype dtype = msd_infer_dtype_of(node, 1);
	if (dtype.code != MSD_DT_INT || dtype.bits < 32)
		return msd_infer_fail(node, "its indices are not int32 or int64");
	for (size_t i = 0; i < axis; i++)
		dims[n++] = msd_infer_dims(node, 0)[i];
	for (size_t i = 0; i < n_indices; i++)
		dims[n++] = msd_infer_dims(node, 1)[i];
	for (size_t i = axis + 1; i < ndim; i++)
		dims[n++] = msd_infer_dims(node, 0)[i];
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_gather = {
	.name = "Gather",
	OP_FIELDS(gather_fields),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer,
	OP_TM(76, 12),
};
