/* Reductions and searches along axes. */
#include "graph/op/op.h"

static const modser_sg_op_field arg_max_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdims", 1, 4),
};
const modser_sg_op_schema msd_op_arg_max = {
	.name = "ArgMax",
	OP_FIELDS(arg_max_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(42, 8),
};

static const modser_sg_op_field arg_min_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdims", 1, 4),
};
const modser_sg_op_schema msd_op_arg_min = {
	.name = "ArgMin",
	OP_FIELDS(arg_min_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(43, 8),
};

static const modser_sg_op_field topk_v2_fields[] = {
	OP_INT("k", 1, 0),
	OP_INT("sorted", 0, 4),
};
const modser_sg_op_schema msd_op_topk_v2 = {
	.name = "TopKV2",
	OP_FIELDS(topk_v2_fields),
	OP_IN(1, 2),
	OP_OUT(1, 2),
	OP_TM(44, 8),
};

static const modser_sg_op_field reduction_fields[] = {
	OP_INT("dim_0", -2, 0),  OP_INT("dim_1", -2, 4), OP_INT("dim_2", -2, 8),
	OP_INT("dim_3", -2, 12), OP_INT("type", 0, 16),  OP_INT("keepdim", 1, 20),
};
const modser_sg_op_schema msd_op_reduction = {
	.name = "Reduction",
	OP_FIELDS(reduction_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(45, 24),
};

static const modser_sg_op_field reduce_l2_fields[] = {
	OP_INT("axis", 0, 0),
	OP_INT("keepdim", 1, 4),
};
const modser_sg_op_schema msd_op_reduce_l2 = {
	.name = "ReduceL2",
	OP_FIELDS(reduce_l2_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	OP_TM(89, 8),
};
