#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

/* The output has the shape of the larger input. The other input has the same number
 * of elements, one, one a channel, or one for each position of the last two axes. */
static int infer(modser_sg_node *node)
{
	const size_t n_inputs = modser_sg_node_input_count(node);
	const int64_t type = msd_params_eltwise(node).type;
	const bool is_unary = type == 7 || (type >= 11 && type <= 15) || type == 17;

	if (MSD_PARAM_RANGE(node, eltwise, type, 0, 17) != 0)
		return -1;
	if (type == 9 || is_unary != (n_inputs == 1)) {
		return msd_infer_fail(node, "type %d with %zu inputs", (int)type,
				      n_inputs);
	}
	if (is_unary)
		return msd_infer_same(node);
	const int64_t n[] = {msd_infer_product(node, 0, 0, msd_infer_ndim(node, 0)),
			     msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1))};
	const size_t large = n[1] > n[0] ? 1 : 0;
	const size_t ndim = msd_infer_ndim(node, large);
	const int64_t *dims = msd_infer_dims(node, large);
	const int64_t small = n[1 - large];
	const bool is_plane = ndim > 2 && small == dims[ndim - 1] * dims[ndim - 2];
	if (small != n[large] && small != 1 && !(ndim > 1 && small == dims[1]) &&
	    !is_plane)
		return msd_infer_fail(node, "its inputs do not go together");
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_eltwise = {
	.name = "Eltwise",
	OP_PARAMS(MSD_PARAMS_ELTWISE),
	OP_IN(1, 2),
	OP_OUT(1, 1),
	.infer = infer,
};
