/* Element-wise operators of two or more tensors. */
#include "graph/ir/infer.h"
#include "graph/op/element/params.h"
#include "graph/op/op.h"

const modser_sg_op_schema msd_op_maximum = {
	.name = "Maximum",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

const modser_sg_op_schema msd_op_minimum = {
	.name = "Minimum",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

const modser_sg_op_schema msd_op_addn = {
	.name = "Addn",
	OP_PARAMS(MSD_PARAMS_ADDN),
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

/* And, or; Tengine has no exclusive or. */
static int infer_logical(modser_sg_node *node)
{
	if (MSD_PARAM_RANGE(node, logical, type, 0, 2) != 0)
		return -1;
	return msd_infer_elementwise(node);
}

const modser_sg_op_schema msd_op_logical = {
	.name = "Logical",
	OP_PARAMS(MSD_PARAMS_LOGICAL),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_logical,
};

/* ==, !=, >, >=, <, <=. */
static int infer_comparison(modser_sg_node *node)
{
	if (MSD_PARAM_RANGE(node, comparison, type, 0, 5) != 0)
		return -1;
	msd_infer_dtype(node, 0, OP_BOOL);
	return msd_infer_elementwise(node);
}

const modser_sg_op_schema msd_op_comparison = {
	.name = "Comparison",
	OP_PARAMS(MSD_PARAMS_COMPARISON),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_comparison,
};

const modser_sg_op_schema msd_op_squared_difference = {
	.name = "SquaredDifference",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

const modser_sg_op_schema msd_op_mean = {
	.name = "Mean",
	OP_IN(1, MODSER_MANY),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

static int infer_where(modser_sg_node *node)
{
	if (!msd_dtype_eq(msd_infer_dtype_of(node, 0), OP_BOOL))
		return msd_infer_fail(node, "its condition is not bool");
	if (msd_infer_alike(node, 1, 3) != 0)
		return -1;
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_broadcast(node);
}

const modser_sg_op_schema msd_op_where = {
	.name = "Where",
	OP_IN(3, 3),
	OP_OUT(1, 1),
	.infer = infer_where,
};

#define ARITHMETIC(id, text)                                                           \
	const modser_sg_op_schema msd_op_##id = {                                      \
		.name = (text),                                                        \
		OP_IN(2, 2),                                                           \
		OP_OUT(1, 1),                                                          \
		.infer = msd_infer_elementwise,                                        \
	}

/* Broadcast by numpy's rules; Tengine's Eltwise broadcasts by channels. */
ARITHMETIC(add, "Add");
ARITHMETIC(sub, "Sub");
ARITHMETIC(mul, "Mul");
ARITHMETIC(div, "Div");

/* The exponent may be of another type. */
static int infer_pow(modser_sg_node *node)
{
	return msd_infer_broadcast(node);
}

const modser_sg_op_schema msd_op_pow = {
	.name = "Pow",
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_pow,
};

const modser_sg_op_schema msd_op_mod = {
	.name = "Mod",
	OP_PARAMS(MSD_PARAMS_MOD),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = msd_infer_elementwise,
};

/* 0 to 4: and, or, exclusive or, to the left, to the right. */
static int infer_bitwise(modser_sg_node *node)
{
	const struct msd_dtype dtype = msd_infer_dtype_of(node, 0);

	if (dtype.code != MSD_DT_INT && dtype.code != MSD_DT_UINT)
		return msd_infer_fail(node, "its elements are not integers");
	if (MSD_PARAM_RANGE(node, bitwise, type, 0, 4) != 0)
		return -1;
	return msd_infer_elementwise(node);
}

const modser_sg_op_schema msd_op_bitwise = {
	.name = "Bitwise",
	OP_PARAMS(MSD_PARAMS_BITWISE),
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_bitwise,
};
