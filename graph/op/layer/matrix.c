/* Matrix products. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/layer/params.h"
#include "graph/op/layer/product.h"
#include "graph/op/op.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/window.h"

/* All inputs have the same numeric dtype. */
static int check_types(const modser_sg_node *node, size_t n)
{
	if (msd_infer_alike(node, 0, n) != 0)
		return -1;
	if (msd_dtype_eq(msd_infer_dtype_of(node, 0), OP_BOOL))
		return msd_infer_fail(node, "bool has no products");
	return 0;
}

static int infer_gemm(modser_sg_node *node)
{
	const struct msd_params_gemm p = msd_params_gemm(node);
	const bool is_a = p.transA != 0;
	const bool is_b = p.transB != 0;

	if (msd_infer_rank(node, 0, 2) != 0 || msd_infer_rank(node, 1, 2) != 0 ||
	    check_types(node, 3) != 0)
		return -1;
	const int64_t *a = msd_infer_dims(node, 0);
	const int64_t *b = msd_infer_dims(node, 1);
	const int64_t dims[] = {a[is_a ? 1 : 0], b[is_b ? 0 : 1]};
	if (a[is_a ? 0 : 1] != b[is_b ? 1 : 0])
		return msd_infer_fail(node, "its matrices do not fit");
	for (size_t i = 0; msd_infer_has(node, 2) && i < msd_infer_ndim(node, 2); i++) {
		const size_t n = msd_infer_ndim(node, 2);
		const int64_t c = msd_infer_dims(node, 2)[n - 1 - i];

		if (c != 1 && (i > 1 || c != dims[1 - i]))
			return msd_infer_fail(node, "what it adds does not fit");
	}
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_gemm = {
	.name = "Gemm",
	OP_PARAMS(MSD_PARAMS_GEMM),
	OP_IN(2, 3),
	.optional_in = 4,
	OP_OUT(1, 1),
	.infer = infer_gemm,
};

int msd_op_mat_mul_extents(const modser_sg_node *node, size_t second)
{
	const size_t na = msd_infer_ndim(node, 0);
	const size_t nb = msd_infer_ndim(node, second);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	if (na == 0 || nb == 0)
		return msd_infer_fail(node, "it is no product of two matrices");
	const int64_t *a = msd_infer_dims(node, 0);
	const int64_t *b = msd_infer_dims(node, second);
	if (a[na - 1] != b[nb == 1 ? 0 : nb - 2])
		return msd_infer_fail(node, "its matrices do not fit");
	const size_t stacked_a = na > 2 ? na - 2 : 0;
	const size_t stacked_b = nb > 2 ? nb - 2 : 0;
	const size_t stacked = stacked_a > stacked_b ? stacked_a : stacked_b;
	for (size_t i = stacked; i > 0; i--) {
		const int64_t ea = i > stacked_a ? 1 : a[stacked_a - i];
		const int64_t eb = i > stacked_b ? 1 : b[stacked_b - i];

		if (ea != eb && ea != 1 && eb != 1)
			return msd_infer_fail(node, "its stacks do not fit");
		dims[n++] = ea == 1 ? eb : ea;
	}
	if (na > 1)
		dims[n++] = a[na - 2];
	if (nb > 1)
		dims[n++] = b[nb - 1];
	return msd_infer_set(node, dims, n);
}

static int infer_mat_mul(modser_sg_node *node)
{
	if (modser_sg_node_input_count(node) > 2)
		return msd_infer_fail(node, "it is no product of two matrices");
	if (check_types(node, 2) != 0)
		return -1;
	return msd_op_mat_mul_extents(node, 1);
}

const modser_sg_op_schema msd_op_mat_mul = {
	.name = "MatMul",
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer_mat_mul,
};

static int infer_fused_extents(modser_sg_node *node)
{
	if (msd_params_fused_product(node).transB == 0)
		return msd_op_mat_mul_extents(node, 1);
	if (msd_infer_rank(node, 0, 2) != 0)
		return -1;
	const int64_t *a = msd_infer_dims(node, 0);
	const int64_t *b = msd_infer_dims(node, 1);
	if (a[1] != b[1])
		return msd_infer_fail(node, "its matrices do not fit");
	return msd_infer_set(node, (const int64_t[]){a[0], b[0]}, 2);
}

static int infer_fused_product(modser_sg_node *node)
{
	const modser_sg_tensor *y = modser_sg_node_output(node, 0);

	if (MSD_PARAM_RANGE(node, fused_product, fused, 0, MSD_FUSED_COUNT - 1) != 0 ||
	    msd_infer_rank(node, 1, 2) != 0 || check_types(node, 4) != 0)
		return -1;
	const int result = infer_fused_extents(node);
	if (result != 0)
		return result;
	const size_t ndim = (size_t)modser_sg_tensor_ndim(y);
	const int64_t *dims = modser_sg_tensor_dims(y);
	if (msd_infer_has(node, 2) && (msd_infer_ndim(node, 2) != 1 ||
				       msd_infer_dims(node, 2)[0] != dims[ndim - 1]))
		return msd_infer_fail(node, "its bias does not fit");
	if (msd_infer_has(node, 3) &&
	    (msd_infer_ndim(node, 3) != ndim ||
	     memcmp(msd_infer_dims(node, 3), dims, ndim * sizeof(*dims)) != 0))
		return msd_infer_fail(node, "its residual has another shape");
	return 0;
}

const modser_sg_op_schema msd_op_fused_product = {
	.name = MSD_FUSED_PRODUCT,
	OP_PARAMS(MSD_PARAMS_FUSED_PRODUCT),
	OP_IN(2, 4),
	.optional_in = 4 | 8,
	OP_OUT(1, 1),
	.infer = infer_fused_product,
};

/* Rows of the matrix, input 1, by their numbers, which are floats in Tengine. */
static int infer_embedding(modser_sg_node *node)
{
	const int64_t n = msd_infer_product(node, 0, 0, msd_infer_ndim(node, 0));

	if (msd_infer_rank(node, 1, 2) != 0)
		return -1;
	const int64_t dims[] = {n, msd_infer_dims(node, 1)[1]};
	if (msd_infer_dims(node, 1)[0] < 1)
		return msd_infer_fail(node, "its matrix has no rows");
	if (msd_infer_has(node, 2) &&
	    msd_infer_product(node, 2, 0, msd_infer_ndim(node, 2)) != dims[1])
		return msd_infer_fail(node, "input 2 is not as long as a row");
	msd_infer_dtype(node, 0, msd_infer_dtype_of(node, 1));
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_embedding = {
	.name = "Embedding",
	OP_PARAMS(MSD_PARAMS_EMBEDDING),
	OP_IN(2, 3),
	OP_OUT(1, 1),
	.infer = infer_embedding,
};
