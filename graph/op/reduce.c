/* Reductions and searches along axes. */
#include "graph/op/op.h"

static const modser_sg_op_field arg_max_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdims", 1, 4),
};
const modser_sg_op_schema msd_op_arg_max = {
	.name = "ArgMax",
	.fields = arg_max_fields,
	.n_fields = OP_COUNT(arg_max_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 42,
	.tm_bytes = 8,
};

static const modser_sg_op_field arg_min_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdims", 1, 4),
};
const modser_sg_op_schema msd_op_arg_min = {
	.name = "ArgMin",
	.fields = arg_min_fields,
	.n_fields = OP_COUNT(arg_min_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 43,
	.tm_bytes = 8,
};

static const modser_sg_op_field topk_v2_fields[] = {
	OP_INT("k", 1, 0),
	OP_INT("sorted", 0, 4),
};
const modser_sg_op_schema msd_op_topk_v2 = {
	.name = "TopKV2",
	.fields = topk_v2_fields,
	.n_fields = OP_COUNT(topk_v2_fields),
	.min_in = 1,
	.max_in = 2,
	.min_out = 1,
	.max_out = 2,
	.tm_type = 44,
	.tm_bytes = 8,
};

static const modser_sg_op_field reduction_fields[] = {
	OP_INT("dim_0", -2, 0),  OP_INT("dim_1", -2, 4), OP_INT("dim_2", -2, 8),
	OP_INT("dim_3", -2, 12), OP_INT("type", 0, 16),  OP_INT("keepdim", 1, 20),
};
const modser_sg_op_schema msd_op_reduction = {
	.name = "Reduction",
	.fields = reduction_fields,
	.n_fields = OP_COUNT(reduction_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 45,
	.tm_bytes = 24,
};

static const modser_sg_op_field reduce_l2_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdim", 1, 4),
};
const modser_sg_op_schema msd_op_reduce_l2 = {
	.name = "ReduceL2",
	.fields = reduce_l2_fields,
	.n_fields = OP_COUNT(reduce_l2_fields),
	.min_in = 1,
	.max_in = 1,
	.min_out = 1,
	.max_out = 1,
	.tm_type = 89,
	.tm_bytes = 8,
};
