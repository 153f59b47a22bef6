/* Operators that only the pass `quantize` makes, for the native engine. */
#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/quantized/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/window.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, BIAS }; /* inputs */

/* With a zero point the output has its type, with a scale uint8, else float32. */
static int set_dtype(const modser_sg_node *node)
{
	if (msd_infer_has(node, Y_ZERO)) {
		if (msd_op_check_bytes(node, Y_ZERO) != 0)
			return -1;
		msd_infer_dtype(node, 0, msd_infer_dtype_of(node, Y_ZERO));
	} else {
		msd_infer_dtype(node, 0,
				msd_infer_has(node, Y_SCALE) ? OP_UINT8 : OP_FLOAT32);
	}
	return 0;
}

/* Operands of bytes, and their numbers: one for all, or @columns for the second. */
static int check(const modser_sg_node *node, int64_t columns)
{
	if (msd_op_check_bytes(node, A) != 0 || msd_op_check_bytes(node, B) != 0 ||
	    msd_op_check_each(node, A_SCALE, 1) != 0 ||
	    msd_op_check_each(node, A_ZERO, 1) != 0 ||
	    msd_op_check_each(node, B_SCALE, columns) != 0 ||
	    msd_op_check_each(node, B_ZERO, columns) != 0 ||
	    msd_op_check_each(node, Y_SCALE, 1) != 0 ||
	    msd_op_check_each(node, Y_ZERO, 1) != 0)
		return -1;
	return set_dtype(node);
}

static int infer_convolution(modser_sg_node *node)
{
	if (msd_infer_ndim(node, B) == 0)
		return msd_infer_fail(node, "its kernels have no dimensions");
	if (check(node, msd_infer_dims(node, B)[0]) != 0)
		return -1;
	return msd_op_conv_infer(node, BIAS);
}

const modser_sg_op_schema msd_op_quantized_convolution = {
	.name = MSD_QUANTIZED_CONVOLUTION,
	OP_PARAMS(MSD_PARAMS_QUANTIZED_CONVOLUTION),
	OP_IN(5, 9),
	.optional_in = 4 | 32 | 64 | 128 | 256,
	OP_OUT(1, 1),
	.infer = infer_convolution,
};

/* A turned second matrix belongs to a Gemm. */
static int infer_turned(modser_sg_node *node)
{
	if (msd_infer_rank(node, A, 2) != 0 || msd_infer_rank(node, B, 2) != 0)
		return -1;
	const int64_t *a = msd_infer_dims(node, A);
	const int64_t *b = msd_infer_dims(node, B);
	const int64_t dims[] = {a[0], b[0]};

	if (a[1] != b[1])
		return msd_infer_fail(node, "its matrices do not fit");
	return msd_infer_set(node, dims, 2);
}

static int infer_mat_mul(modser_sg_node *node)
{
	const bool is_turned = msd_params_quantized_mat_mul(node).transB != 0;
	if (msd_infer_rank(node, B, 2) != 0)
		return -1;
	const int64_t n = msd_infer_dims(node, B)[is_turned ? 0 : 1];

	if (check(node, n) != 0 || msd_op_check_each(node, BIAS, n) != 0)
		return -1;
	return is_turned ? infer_turned(node) : msd_op_mat_mul_extents(node, B);
}

const modser_sg_op_schema msd_op_quantized_mat_mul = {
	.name = MSD_QUANTIZED_MAT_MUL,
	OP_PARAMS(MSD_PARAMS_QUANTIZED_MAT_MUL),
	OP_IN(5, 9),
	.optional_in = 4 | 32 | 64 | 128 | 256,
	OP_OUT(1, 1),
	.infer = infer_mat_mul,
};

/* The shapes of a and b are broadcast. */
static int infer_binary(modser_sg_node *node)
{
	const size_t na = msd_infer_ndim(node, A);
	const size_t nb = msd_infer_ndim(node, B);
	const size_t n = na > nb ? na : nb;
	const int64_t *a = msd_infer_dims(node, A);
	const int64_t *b = msd_infer_dims(node, B);
	int64_t dims[MODSER_GRAPH_MAX_NDIM] = {0};

	if (MSD_PARAM_RANGE(node, quantized_binary, kind, 0, MSD_QUANTIZED_KINDS - 1) !=
		    0 ||
	    check(node, 1) != 0)
		return -1;
	for (size_t i = 1; i <= n; i++) {
		const int64_t ea = i <= na ? a[na - i] : 1;
		const int64_t eb = i <= nb ? b[nb - i] : 1;

		if (ea != eb && ea != 1 && eb != 1)
			return msd_infer_fail(node, "its inputs do not fit");
		dims[n - i] = ea == 1 ? eb : ea;
	}
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_quantized_binary = {
	.name = MSD_QUANTIZED_BINARY,
	OP_PARAMS(MSD_PARAMS_QUANTIZED_BINARY),
	OP_IN(7, 8),
	.optional_in = 4 | 32 | 128,
	OP_OUT(1, 1),
	.infer = infer_binary,
};

/* Input 1 has the result for each byte of input 0. */
static int infer_table(modser_sg_node *node)
{
	if (msd_op_check_bytes(node, 0) != 0 || msd_op_check_bytes(node, 1) != 0)
		return -1;
	if (msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 256)
		return msd_infer_fail(node, "its table has not 256 bytes");
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_quantized_table = {
	.name = MSD_QUANTIZED_TABLE,
	OP_IN(2, 2),
	OP_OUT(1, 1),
	.infer = infer_table,
};

/* x, its scale and zero point, and those of the output. */
static int infer_pooling(modser_sg_node *node)
{
	if (msd_op_check_bytes(node, 0) != 0)
		return -1;
	for (size_t i = 1; i < 5; i++) {
		if (msd_op_check_each(node, i, 1) != 0)
			return -1;
	}
	if (msd_infer_has(node, 4) && msd_op_check_bytes(node, 4) != 0)
		return -1;
	msd_infer_dtype(node, 0,
			msd_infer_has(node, 4) ? msd_infer_dtype_of(node, 4)
					       : OP_UINT8);
	return msd_op_pool_infer(node);
}

const modser_sg_op_schema msd_op_quantized_pooling = {
	.name = MSD_QUANTIZED_POOLING,
	OP_PARAMS(MSD_PARAMS_QUANTIZED_POOLING),
	OP_IN(4, 5),
	.optional_in = 4 | 16,
	OP_OUT(1, 1),
	.infer = infer_pooling,
};
