/* ArrayFeatureExtractor: selected features of each row; a single row gives a table
 * with one row. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	int64_t dims[MODSER_GRAPH_MAX_NDIM] = {1};
	const size_t ndim = msd_infer_ndim(node, 0);
	const size_t n = ndim < 2 ? 2 : ndim;

	if (ndim == 0)
		return msd_infer_fail(node, "its input has no features");
	if (msd_infer_indices(node, 1) != 0)
		return -1;
	for (size_t i = 0; i + 1 < ndim; i++)
		dims[i] = msd_infer_dims(node, 0)[i];
	dims[n - 1] = msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1));
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_extract_features = {
	.name = "ArrayFeatureExtractor",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
