#include "graph/op/op.h"

static const modser_sg_op_field permute_fields[] = {
	OP_INT("flag", 0, 0),    OP_INT("order0", 0, 4),  OP_INT("order1", 1, 8),
	OP_INT("order2", 2, 12), OP_INT("order3", 3, 16),
};
const modser_sg_op_schema msd_op_permute = {
	.name = "Permute",
	.fields = permute_fields,
	.n_fields = OP_COUNT(permute_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 15,
	.tm_bytes = 20,
};
