/* Integer convolutions: ConvInteger, which keeps the sums, and QLinearConv, which
 * scales them. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/quantized/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/window.h"

/* The images and kernels at @x and @w, each with its zero point at @x_zero, @w_zero. */
static int check_operands(const modser_sg_node *node, size_t w, size_t x_zero,
			  size_t w_zero)
{
	if (msd_infer_ndim(node, w) == 0)
		return msd_infer_fail(node, "its kernels have no dimensions");
	if (msd_op_check_bytes(node, 0) != 0 || msd_op_check_bytes(node, w) != 0 ||
	    msd_op_check_each(node, x_zero, 1) != 0)
		return -1;
	return msd_op_check_each(node, w_zero, msd_infer_dims(node, w)[0]);
}

static int infer_integer(modser_sg_node *node)
{
	if (check_operands(node, 1, 2, 3) != 0)
		return -1;
	msd_infer_dtype(node, 0, OP_INT32);
	return msd_op_conv_infer(node, MODSER_MANY);
}

const modser_sg_op_schema msd_op_conv_integer = {
	.name = "ConvInteger",
	OP_PARAMS(MSD_PARAMS_CONV_INTEGER),
	OP_IN(2, 4),
	.optional_in = 12,
	OP_OUT(1, 1),
	.infer = infer_integer,
};

/* x, its scale and zero point, w, the same, those of the output, and a bias. */
static int infer_q_linear(modser_sg_node *node)
{
	if (check_operands(node, 3, 2, 5) != 0 || msd_op_check_bytes(node, 7) != 0 ||
	    msd_op_check_each(node, 1, 1) != 0 ||
	    msd_op_check_each(node, 4, msd_infer_dims(node, 3)[0]) != 0 ||
	    msd_op_check_each(node, 6, 1) != 0 || msd_op_check_each(node, 7, 1) != 0)
		return -1;
	if (msd_infer_has(node, 8) &&
	    !msd_dtype_eq(msd_infer_dtype_of(node, 8), OP_INT32))
		return msd_infer_fail(node, "its bias is not of int32");
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 7));
	return msd_op_conv_infer(node, 8);
}

const modser_sg_op_schema msd_op_q_linear_conv = {
	.name = "QLinearConv",
	OP_PARAMS(MSD_PARAMS_CONV_INTEGER),
	OP_IN(8, 9),
	.optional_in = 256,
	OP_OUT(1, 1),
	.infer = infer_q_linear,
};
