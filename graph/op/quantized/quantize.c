/* Quantization: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear and integer
 * products. */
#include "graph/op/quantized/quantize.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/quantized/params.h"

/* Check that the scale is one number, one for each position of the axis, or one for
 * each block. */
static int check_scale(const modser_sg_node *node, size_t axis)
{
	const size_t ndim = msd_infer_ndim(node, 1);
	const int64_t *scale = msd_infer_dims(node, 1);
	const int64_t *x = msd_infer_dims(node, 0);
	const int64_t block = msd_params_blocks(node).block_size;

	if (ndim == 0 || (ndim == 1 && scale[0] == 1))
		return 0;
	if (ndim == 1 && block == 0) {
		return scale[0] == x[axis]
			       ? 0
			       : msd_infer_fail(node, "its scale does not fit axis %zu",
						axis);
	}
	if (msd_infer_rank(node, 1, msd_infer_ndim(node, 0)) != 0)
		return -1;
	for (size_t i = 0; i < ndim; i++) {
		const int64_t blocks =
			i == axis && block > 0
				? x[i] / block + (x[i] % block != 0 ? 1 : 0)
				: x[i];

		if (scale[i] != blocks) {
			return msd_infer_fail(node,
					      "its scale does not fit its blocks");
		}
	}
	return 0;
}

static int check(const modser_sg_node *node)
{
	const struct msd_params_blocks p = msd_params_blocks(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	size_t axis = 0;

	/* With one scale for the tensor the axis has no meaning and may have any
	 * value. */
	if (msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)) != 1 &&
	    msd_infer_axis_of(node, p.axis, ndim, &axis) != 0)
		return -1;
	if (p.block_size < 0)
		return msd_infer_fail(node, "its blocks have less than no element");
	if (check_scale(node, axis) != 0)
		return -1;
	if (msd_infer_has(node, 2) &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) !=
		    msd_infer_product(node, 1, 0, msd_infer_ndim(node, 1)))
		return msd_infer_fail(node, "it has not one zero point for each scale");
	return 0;
}

/* An integer of 2 to 16 bits, or one of ONNX's floats of 4 to 8 bits. */
static bool is_quantized(struct msd_dtype t)
{
	const bool is_integer = t.code == MSD_DT_INT || t.code == MSD_DT_UINT;

	return is_integer ? t.bits == 2 || t.bits == 4 || t.bits == 8 || t.bits == 16
			  : t.code >= MSD_DT_F8_E4M3FN && t.code <= MSD_DT_F4_E2M1FN &&
				    t.code != MSD_DT_F8_E8M0FNU;
}

static int infer_quantize(modser_sg_node *node)
{
	const char *name = msd_params_quantize_linear(node).output_dtype;
	struct msd_dtype dtype = OP_UINT8;

	if (msd_infer_has(node, 2)) {
		dtype = msd_infer_dtype_of(node, 2);
	} else if (name[0] != '\0' && !msd_dtype_parse(name, strlen(name), &dtype)) {
		return msd_infer_fail(node, "no element type is called \"%s\"", name);
	}
	if (!is_quantized(dtype)) {
		return msd_infer_fail(node, "only integers of 2 to 16 bits and "
					    "floats of 4 to 8 are made");
	}
	if (check(node) != 0)
		return -1;
	msd_infer_dtype(node, 0, dtype);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_quantize_linear = {
	.name = "QuantizeLinear",
	OP_PARAMS(MSD_PARAMS_QUANTIZE_LINEAR),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer_quantize,
};

static int infer_dequantize(modser_sg_node *node)
{
	if (check(node) != 0)
		return -1;
	if (msd_infer_has(node, 2) &&
	    !msd_dtype_eq(msd_infer_dtype_of(node, 0), msd_infer_dtype_of(node, 2)))
		return msd_infer_fail(node, "its zero point is of another type");
	const char *name = msd_params_dequantize_linear(node).output_dtype;
	struct msd_dtype dtype = msd_infer_dtype_of(node, 1);
	if (name[0] != '\0' && !msd_dtype_parse(name, strlen(name), &dtype))
		return msd_infer_fail(node, "no element type is called \"%s\"", name);
	msd_infer_dtype(node, 0, dtype);
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_dequantize_linear = {
	.name = "DequantizeLinear",
	OP_PARAMS(MSD_PARAMS_DEQUANTIZE_LINEAR),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer_dequantize,
};

/* Outputs are the numbers, their scale and their zero point. */
static int infer_dynamic(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, OP_UINT8);
	msd_infer_dtype(node, 2, OP_UINT8);
	if (msd_infer_set_output(node, 1, NULL, 0) != 0 ||
	    msd_infer_set_output(node, 2, NULL, 0) != 0)
		return -1;
	return msd_infer_same(node);
}

const modser_sg_op_schema msd_op_dynamic_quantize_linear = {
	.name = "DynamicQuantizeLinear",
	OP_IN(1, 1),
	OP_OUT(3, 3),
	.infer = infer_dynamic,
};

size_t msd_op_quantized_b(const modser_sg_node *node)
{
	const char *name = modser_sg_op_name(modser_sg_node_op(node));

	return strcmp(name, "QLinearMatMul") == 0 ||
			       strcmp(name, MSD_QUANTIZED_MAT_MUL) == 0
		       ? 3
		       : 1;
}

int msd_op_check_each(const modser_sg_node *node, size_t i, int64_t n)
{
	if (!msd_infer_has(node, i))
		return 0;
	const int64_t count = msd_infer_product(node, i, 0, msd_infer_ndim(node, i));
	if (count == 1 || count == n)
		return 0;
	return msd_infer_fail(node, "input %zu has %lld numbers, expected 1 or %lld", i,
			      (long long)count, (long long)n);
}

int msd_op_check_bytes(const modser_sg_node *node, size_t i)
{
	const struct msd_dtype dtype = msd_infer_dtype_of(node, i);

	if ((dtype.code == MSD_DT_INT || dtype.code == MSD_DT_UINT) && dtype.bits == 8)
		return 0;
	return msd_infer_fail(node, "input %zu is not of 8-bit integers", i);
}

static int64_t rows_of(const modser_sg_node *node)
{
	const size_t n = msd_infer_ndim(node, 0);

	return n > 1 ? msd_infer_dims(node, 0)[n - 2] : 1;
}

static int64_t columns_of(const modser_sg_node *node, size_t b)
{
	const size_t n = msd_infer_ndim(node, b);

	return n > 1 ? msd_infer_dims(node, b)[n - 1] : 1;
}

static int infer_mat_mul_integer(modser_sg_node *node)
{
	if (msd_op_check_bytes(node, 0) != 0 || msd_op_check_bytes(node, 1) != 0 ||
	    msd_op_check_each(node, 2, rows_of(node)) != 0 ||
	    msd_op_check_each(node, 3, columns_of(node, 1)) != 0)
		return -1;
	msd_infer_dtype(node, 0, OP_INT32);
	return msd_op_mat_mul_extents(node, 1);
}

const modser_sg_op_schema msd_op_mat_mul_integer = {
	.name = "MatMulInteger",
	OP_IN(2, 4),
	.optional_in = 12,
	OP_OUT(1, 1),
	.infer = infer_mat_mul_integer,
};

/* a, its scale and zero point, b, the same, and those of the output. */
static int infer_q_linear_mat_mul(modser_sg_node *node)
{
	const int64_t rows = rows_of(node);
	const int64_t columns = columns_of(node, 3);

	if (msd_op_check_bytes(node, 0) != 0 || msd_op_check_bytes(node, 3) != 0 ||
	    msd_op_check_bytes(node, 7) != 0 || msd_op_check_each(node, 1, rows) != 0 ||
	    msd_op_check_each(node, 2, rows) != 0 ||
	    msd_op_check_each(node, 4, columns) != 0 ||
	    msd_op_check_each(node, 5, columns) != 0 ||
	    msd_op_check_each(node, 6, 1) != 0 || msd_op_check_each(node, 7, 1) != 0)
		return -1;
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 7));
	return msd_op_mat_mul_extents(node, 3);
}

const modser_sg_op_schema msd_op_q_linear_mat_mul = {
	.name = "QLinearMatMul",
	OP_IN(8, 8),
	OP_OUT(1, 1),
	.infer = infer_q_linear_mat_mul,
};
