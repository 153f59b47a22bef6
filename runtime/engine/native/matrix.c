/* MatMul, Gemm and FullyConnected as products; a constant right side is packed. */
#include <stdlib.h>

#include "graph/op/layer/params.h"
#include "graph/op/layer/product.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/kernels.h"
#include "runtime/engine/native/product.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/work.h"
#include "runtime/kernel/walk.h"

/* @step is 1 if the rows of b are contiguous, else the columns are. */
static bool pack_matrix(const modser_sg_node *node, bool is_turned,
			struct msd_native_packed **ret)
{
	const float *b = msd_native_constant(node, 1);
	const int64_t *dims = modser_sg_tensor_dims(modser_sg_node_input(node, 1));

	if (b == NULL || modser_sg_tensor_ndim(modser_sg_node_input(node, 1)) != 2)
		return true;
	const size_t k = (size_t)dims[is_turned ? 1 : 0];
	const size_t n = (size_t)dims[is_turned ? 0 : 1];
	const struct msd_native_kernels *kernels = msd_native_kernels();
	bool is_packed = false;
	struct msd_native_packed *p = msd_native_packed_new(
		node, NULL, sizeof(*p), kernels->pack_b_floats(k, n), &is_packed);
	if (p == NULL)
		return false;
	if (!is_packed) {
		kernels->pack_b(b, is_turned ? 1 : n, is_turned ? k : 1, k, n,
				p->weights);
	}
	*ret = p;
	return true;
}

static const float *packed_b(const struct msd_native_packed *packed)
{
	return packed != NULL ? packed->weights : NULL;
}

static bool pack_gemm(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack_matrix(node, msd_params_gemm(node).transB != 0, ret);
}

/* The rows of a Gemm's result become alpha * row + addend. */
struct scaling {
	const struct msd_native_kernels *k;
	size_t n; /* columns */
	float alpha;
	const float *addend; /* NULL: none */
	size_t row, step;    /* of the addend */
	float *y;
};

static void scale_rows(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct scaling *s = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		float *y = s->y + i * s->n;

		s->k->binary(MSD_NATIVE_MUL, y, 1, &s->alpha, 0, s->n, y);
		if (s->addend != NULL) {
			s->k->binary(MSD_NATIVE_ADD, y, 1, s->addend + i * s->row,
				     s->step, s->n, y);
		}
	}
}

/* The addend is broadcast from a scalar or from one or two axes; a column of addends
 * is one per row. Sums start with it, unless they are scaled. */
static msd_err run_scaled(const struct msd_kernel_call *c, struct msd_native_stack *j,
			  const float *addend, struct msd_diag *d)
{
	const bool has_addend = addend != NULL;
	const int64_t *dims = has_addend ? msd_kernel_in_dims(c, 2) : NULL;
	const size_t n = has_addend ? msd_kernel_in_ndim(c, 2) : 0;
	const struct scaling s = {
		.k = j->k,
		.n = j->p.n,
		.alpha = msd_params_gemm(c->node).alpha,
		.addend = addend,
		.row = n > 1 && dims[n - 2] != 1 ? (size_t)dims[n - 1] : 0,
		.step = n > 0 && dims[n - 1] != 1 ? 1 : 0,
		.y = j->p.y,
	};
	const bool is_plain = s.alpha == 1;

	if (is_plain) {
		j->p.start = addend;
		j->p.start_columns = s.step != 0;
		j->p.start_row = s.row;
	}
	const msd_err err = msd_native_stack_run(j, 1, d);
	if (err == MSD_OK && !is_plain)
		msd_native_each(j->p.m, 0.3 * (double)s.n, scale_rows, &s);
	return err;
}

static msd_err run_with_addend(const struct msd_kernel_call *c,
			       struct msd_native_stack *j, struct msd_diag *d)
{
	const float beta = msd_params_gemm(c->node).beta;

	if (!msd_kernel_has(c, 2))
		return run_scaled(c, j, NULL, d);
	if (beta == 1)
		return run_scaled(c, j, c->in[2], d);
	const size_t n =
		msd_native_count(msd_kernel_in_dims(c, 2), 0, msd_kernel_in_ndim(c, 2));
	float *addend = msd_native_scratch_take(n);
	if (addend == NULL)
		return msd_diag_no_memory(d);
	j->k->binary(MSD_NATIVE_MUL, c->in[2], 1, &beta, 0, n, addend);
	const msd_err err = run_scaled(c, j, addend, d);
	msd_native_scratch_give(addend);
	return err;
}

static msd_err run_gemm(const struct msd_kernel_call *c,
			const struct msd_native_packed *packed, struct msd_diag *d)
{
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const bool is_a = msd_params_gemm(c->node).transA != 0;
	const bool is_b = msd_params_gemm(c->node).transB != 0;
	struct msd_native_stack j = {
		.k = msd_native_kernels(),
		.p = {.m = (size_t)a[is_a ? 1 : 0],
		      .n = (size_t)b[is_b ? 0 : 1],
		      .k = (size_t)a[is_a ? 0 : 1],
		      .a = c->in[0],
		      .a_row = is_a ? 1 : (size_t)a[1],
		      .a_step = is_a ? (size_t)a[1] : 1,
		      .packed_b = packed_b(packed),
		      .b = c->in[1],
		      .b_row = is_b ? 1 : (size_t)b[1],
		      .b_step = is_b ? (size_t)b[1] : 1,
		      .y = c->out[0],
		      .y_row = (size_t)b[is_b ? 0 : 1]},
	};

	return run_with_addend(c, &j, d);
}

static bool pack_turned(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack_matrix(node, true, ret);
}

static msd_err run_fully_connected(const struct msd_kernel_call *c,
				   const struct msd_native_packed *packed,
				   struct msd_diag *d)
{
	const size_t depth = (size_t)msd_kernel_in_dims(c, 1)[1];
	struct msd_native_stack j = {
		.k = msd_native_kernels(),
		.p = {.m = (size_t)msd_kernel_out_dims(c, 0)[0],
		      .n = (size_t)msd_kernel_out_dims(c, 0)[1],
		      .k = depth,
		      .a = c->in[0],
		      .a_row = depth,
		      .a_step = 1,
		      .packed_b = packed_b(packed),
		      .b = c->in[1],
		      .b_row = 1,
		      .b_step = depth,
		      .y = c->out[0],
		      .y_row = (size_t)msd_kernel_out_dims(c, 0)[1],
		      .start = msd_kernel_has(c, 2) ? c->in[2] : NULL,
		      .start_columns = true},
	};

	return msd_native_stack_run(&j, 1, d);
}

static bool pack_mat_mul(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack_matrix(node, false, ret);
}

static bool may_fused(const modser_sg_node *node)
{
	return msd_native_all_single(node) && msd_native_constant(node, 1) != NULL;
}

static bool pack_fused(const modser_sg_node *node, struct msd_native_packed **ret)
{
	return pack_matrix(node, msd_params_fused_product(node).transB != 0, ret);
}

/* The rows of all stacks are rows of one product. */
static msd_err run_fused(const struct msd_kernel_call *c,
			 const struct msd_native_packed *packed, struct msd_diag *d)
{
	const struct msd_params_fused_product p = msd_params_fused_product(c->node);
	const size_t na = msd_kernel_in_ndim(c, 0);
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const size_t k = (size_t)a[na - 1];
	const size_t n = (size_t)msd_kernel_out_dims(c, 0)[na - 1];
	struct msd_native_stack j = {
		.k = msd_native_kernels(),
		.p = {.m = msd_native_count(a, 0, na - 1),
		      .n = n,
		      .k = k,
		      .a = c->in[0],
		      .a_row = k,
		      .a_step = 1,
		      .packed_b = packed_b(packed),
		      .y = c->out[0],
		      .y_row = n,
		      .start = msd_kernel_has(c, 2) ? c->in[2] : NULL,
		      .start_columns = true,
		      .residual = msd_kernel_has(c, MSD_FUSED_PRODUCT_RESIDUAL)
					  ? c->in[MSD_FUSED_PRODUCT_RESIDUAL]
					  : NULL},
	};

	msd_native_set_fused(p.fused, p.fused_a, p.fused_b, &j.p.finish);
	return msd_native_stack_run(&j, 1, d);
}

/* Stacks of matrices are broadcast; one matrix on the right makes the stacks on the
 * left rows of one product. */
static msd_err run_mat_mul(const struct msd_kernel_call *c,
			   const struct msd_native_packed *packed, struct msd_diag *d)
{
	const size_t na = msd_kernel_in_ndim(c, 0);
	const size_t nb = msd_kernel_in_ndim(c, 1);
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const size_t stacked_a = na > 2 ? na - 2 : 0;
	const size_t stacked_b = nb > 2 ? nb - 2 : 0;
	const size_t stacked = stacked_a > stacked_b ? stacked_a : stacked_b;
	const size_t rows = na > 1 ? (size_t)a[na - 2] : 1;
	const size_t columns = nb > 1 ? (size_t)b[nb - 1] : 1;
	const size_t k = (size_t)a[na - 1];
	struct msd_walk stacks;
	struct msd_native_stack j = {
		.k = msd_native_kernels(),
		.a_size = rows * k,
		.b_size = k * columns,
		.y_size = rows * columns,
		.p = {.m = rows,
		      .n = columns,
		      .k = k,
		      .a = c->in[0],
		      .a_row = k,
		      .a_step = 1,
		      .packed_b = packed_b(packed),
		      .b = c->in[1],
		      .b_row = columns,
		      .b_step = 1,
		      .y = c->out[0],
		      .y_row = columns},
	};

	if (nb <= 2) {
		j.p.m = rows * msd_native_count(a, 0, stacked_a);
		return msd_native_stack_run(&j, 1, d);
	}
	msd_walk_init(&stacks, msd_kernel_out_dims(c, 0), stacked);
	msd_walk_stretch(&stacks, a, stacked_a);
	msd_walk_stretch(&stacks, b, stacked_b);
	msd_walk_stretch(&stacks, msd_kernel_out_dims(c, 0), stacked);
	j.places = &stacks;
	return msd_native_stack_run(
		&j, msd_native_count(msd_kernel_out_dims(c, 0), 0, stacked), d);
}

enum { PACKS = 1u << 1 }; /* the matrix on the right */

const struct msd_native_claim msd_native_fused_product = {MSD_FUSED_PRODUCT, may_fused,
							  pack_fused, run_fused, PACKS};
const struct msd_native_claim msd_native_gemm = {"Gemm", msd_native_all_single,
						 pack_gemm, run_gemm, PACKS};
const struct msd_native_claim msd_native_mat_mul = {"MatMul", msd_native_all_single,
						    pack_mat_mul, run_mat_mul, PACKS};
const struct msd_native_claim msd_native_fully_connected = {
	"FullyConnected", msd_native_all_single, pack_turned, run_fully_connected,
	PACKS};
