/* Products of integer matrices: MatMulInteger and QLinearMatMul. The sums are
 * doubles, which represent them exactly. */
#include "graph/op/quantized/quantize.h"
#include "runtime/engine/reference/layer/product.h"
#include "runtime/engine/reference/quantized/quantize.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

struct integers {
	const struct msd_kernel_call *c;
	size_t b; /* index of the input with the second matrix */
	size_t m;
	size_t n;
	size_t k;
	/* Inputs with zero points and scales; optional. */
	size_t a_zero, b_zero;
	bool is_scaled;
	struct msd_walk stacks;
};

static void get_a(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret)
{
	const struct integers *p = ctx;
	const int64_t from =
		msd_walk_place(&p->stacks, 0, stack) * (int64_t)(p->m * p->k);

	msd_row_load(msd_kernel_in_dtype(p->c, 0), p->c->in[0],
		     from + (int64_t)(m * p->k + first), 1, count, ret);
	const double zero = msd_quantized_part(p->c, p->a_zero, m, 0);
	for (size_t i = 0; i < count; i++)
		ret[i] -= zero;
}

/* Subtract the zero points of columns @first and on. */
static void subtract_zeros(const struct msd_kernel_call *c, size_t input, size_t first,
			   size_t count, double *ret)
{
	double zeros[MSD_ROW_BLOCK];

	if (!msd_kernel_has(c, input))
		return;
	const int64_t step = msd_kernel_in_elements(c, input) > 1;
	for (size_t at = 0, n; at < count; at += n) {
		n = count - at < MSD_ROW_BLOCK ? count - at : MSD_ROW_BLOCK;
		msd_row_load(msd_kernel_in_dtype(c, input), c->in[input],
			     (int64_t)(first + at) * step, step, n, zeros);
		for (size_t i = 0; i < n; i++)
			ret[at + i] -= zeros[i];
	}
}

static void get_b(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret)
{
	const struct integers *p = ctx;
	const int64_t from =
		msd_walk_place(&p->stacks, 1, stack) * (int64_t)(p->k * p->n);

	msd_row_load(msd_kernel_in_dtype(p->c, p->b), p->c->in[p->b],
		     from + (int64_t)(k * p->n + first), 1, count, ret);
	subtract_zeros(p->c, p->b_zero, first, count, ret);
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct integers *p = ctx;
	const struct msd_dtype to = msd_kernel_out_dtype(p->c, 0);

	if (p->is_scaled)
		msd_requantize(p->c, m, first, 1, count, sums);
	msd_row_store(to, p->c->out[0], (stack * p->m + m) * p->n + first, count, sums);
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t second = msd_op_quantized_b(c->node);
	const size_t na = msd_kernel_in_ndim(c, 0);
	const size_t nb = msd_kernel_in_ndim(c, second);
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, second);
	const size_t stacked_a = na > 2 ? na - 2 : 0;
	const size_t stacked_b = nb > 2 ? nb - 2 : 0;
	const size_t stacked = stacked_a > stacked_b ? stacked_a : stacked_b;
	struct integers p = {
		.c = c,
		.b = second,
		.m = na > 1 ? (size_t)a[na - 2] : 1,
		.n = nb > 1 ? (size_t)b[nb - 1] : 1,
		.k = (size_t)a[na - 1],
		.a_zero = 2,
		.b_zero = second == 3 ? 5 : 3,
		.is_scaled = second == 3,
	};

	(void)d;
	msd_walk_init(&p.stacks, msd_kernel_out_dims(c, 0), stacked);
	msd_walk_stretch(&p.stacks, a, stacked_a);
	msd_walk_stretch(&p.stacks, b, stacked_b);
	const struct msd_product product = {
		.n_stacks = msd_kernel_outer(msd_kernel_out_dims(c, 0), stacked),
		.m = p.m,
		.n = p.n,
		.k = p.k,
		.a = get_a,
		.b = get_b,
		.end = put,
		.ctx = &p,
	};
	msd_product_run(&product);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_mat_mul_integer = {"MatMulInteger", run,
						      MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_q_linear_mat_mul = {"QLinearMatMul", run,
						       MSD_TAKES_NUMBERS};
