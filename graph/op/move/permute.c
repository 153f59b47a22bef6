#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

static int infer(modser_sg_node *node)
{
	static const char *const names[] = {"order0", "order1", "order2", "order3"};
	const struct msd_params_permute p = msd_params_permute(node);
	const int64_t order[] = {p.order0, p.order1, p.order2, p.order3};
	int64_t dims[4];
	unsigned seen = 0;

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		if (msd_infer_range(node, names[i], order[i], 0, 3) != 0)
			return -1;
		dims[i] = msd_infer_dims(node, 0)[order[i]];
		seen |= 1u << order[i];
	}
	if (seen != 15)
		return msd_infer_fail(node, "an axis comes twice");
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_permute = {
	.name = "Permute",
	OP_PARAMS(MSD_PARAMS_PERMUTE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
