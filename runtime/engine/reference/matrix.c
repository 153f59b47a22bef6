/* Products of matrices: Gemm and MatMul, one row of the output a part. */
#include "runtime/engine/kernels.h"
#include "runtime/engine/walk.h"

/* y[m, n] = a[m, k] b[k, n], each with steps of its own. */
struct product {
	const float *a;
	const float *b;
	float *y;
	size_t n;
	size_t k;
	int64_t a_row, a_column;
	int64_t b_row, b_column;
	double scale;
};

static void run_row(const void *ctx, size_t m)
{
	const struct product *p = ctx;
	const float *a = p->a + (int64_t)m * p->a_row;

	for (size_t n = 0; n < p->n; n++) {
		const float *b = p->b + (int64_t)n * p->b_column;
		double sum = 0;

		for (size_t k = 0; k < p->k; k++) {
			sum += (double)a[(int64_t)k * p->a_column] *
			       (double)b[(int64_t)k * p->b_row];
		}
		p->y[m * p->n + n] = (float)(p->scale * sum);
	}
}

/* What is added to the product, stretched. */
static void add_bias(const struct msd_kernel_call *c)
{
	const double beta = (double)msd_kernel_float(c, "beta");
	float *y = msd_kernel_out(c, 0);
	struct msd_walk w;

	msd_walk_init(&w, msd_kernel_out_dims(c, 0), 2);
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 2), msd_kernel_in_ndim(c, 2));
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		const float *bias = msd_kernel_in(c, 2) + w.at[0];

		for (int64_t i = 0; i < w.n; i++, y++) {
			*y = (float)((double)*y +
				     beta * (double)bias[i * msd_walk_step(&w, 0)]);
		}
	}
}

static msd_err run_gemm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const bool is_a = msd_kernel_int(c, "transA") != 0;
	const bool is_b = msd_kernel_int(c, "transB") != 0;
	const struct product p = {
		.a = msd_kernel_in(c, 0),
		.b = msd_kernel_in(c, 1),
		.y = msd_kernel_out(c, 0),
		.n = (size_t)msd_kernel_out_dims(c, 0)[1],
		.k = (size_t)a[is_a ? 0 : 1],
		.a_row = is_a ? 1 : a[1],
		.a_column = is_a ? a[1] : 1,
		.b_row = is_b ? 1 : b[1],
		.b_column = is_b ? b[1] : 1,
		.scale = (double)msd_kernel_float(c, "alpha"),
	};

	(void)d;
	msd_kernel_each((size_t)msd_kernel_out_dims(c, 0)[0], run_row, &p);
	if (msd_kernel_has(c, 2))
		add_bias(c);
	return MSD_OK;
}

/* Axes before the last two are stretched; a vector is a row on the left, a column on
 * the right. */
static msd_err run_mat_mul(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t na = msd_kernel_in_ndim(c, 0);
	const size_t nb = msd_kernel_in_ndim(c, 1);
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const size_t stacked_a = na > 2 ? na - 2 : 0;
	const size_t stacked_b = nb > 2 ? nb - 2 : 0;
	const int64_t rows = na > 1 ? a[na - 2] : 1;
	struct product p = {
		.n = nb > 1 ? (size_t)b[nb - 1] : 1,
		.k = (size_t)a[na - 1],
		.a_row = a[na - 1],
		.a_column = 1,
		.b_row = nb > 1 ? b[nb - 1] : 1,
		.b_column = 1,
		.scale = 1,
	};
	const int64_t size_a = rows * a[na - 1];
	const int64_t size_b = (int64_t)(p.k * p.n);
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0),
		      stacked_a > stacked_b ? stacked_a : stacked_b);
	msd_walk_stretch(&w, a, stacked_a);
	msd_walk_stretch(&w, b, stacked_b);
	p.y = msd_kernel_out(c, 0);
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t i = 0; i < w.n; i++) {
			const int64_t ia = w.at[0] + i * msd_walk_step(&w, 0);
			const int64_t ib = w.at[1] + i * msd_walk_step(&w, 1);

			p.a = msd_kernel_in(c, 0) + ia * size_a;
			p.b = msd_kernel_in(c, 1) + ib * size_b;
			msd_kernel_each((size_t)rows, run_row, &p);
			p.y += (size_t)rows * p.n;
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_gemm = {"Gemm", run_gemm, MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_mat_mul = {"MatMul", run_mat_mul, MSD_TAKES_FLOAT32};
