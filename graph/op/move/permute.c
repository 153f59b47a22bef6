#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field permute_fields[] = {
	OP_INT("flag", 0),   OP_INT("order0", 0), OP_INT("order1", 1),
	OP_INT("order2", 2), OP_INT("order3", 3),
};
static int infer(modser_sg_node *node)
{
	static const char *const names[] = {"order0", "order1", "order2", "order3"};
	int64_t dims[4];
	unsigned seen = 0;

	if (msd_infer_rank(node, 0, 4) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		if (msd_infer_range(node, names[i], 0, 3) != 0)
			return -1;
		const int64_t from =
			modser_sg_op_int(modser_sg_node_op(node), names[i]);
		dims[i] = msd_infer_dims(node, 0)[from];
		seen |= 1u << from;
	}
	if (seen != 15)
		return msd_infer_fail(node, "an axis comes twice");
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_permute = {
	.name = "Permute",
	OP_FIELDS(permute_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer,
};
