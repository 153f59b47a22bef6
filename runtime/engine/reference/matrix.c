/* Products of matrices: Gemm, MatMul and FullyConnected. */
#include "runtime/engine/kernels.h"
#include "runtime/engine/reference/product.h"
#include "runtime/engine/row.h"
#include "runtime/engine/walk.h"

/* Two matrices, each with steps of its own, of stacks that a walk tells. */
struct matrices {
	struct msd_dtype dtype;
	const void *a;
	const void *b;
	const void *bias; /* one for each column; NULL: none */
	void *y;
	size_t m;
	size_t n;
	int64_t a_row, a_column;
	int64_t b_row, b_column;
	int64_t a_size, b_size; /* elements of one of a stack */
	struct msd_walk stacks;
	double scale;
};

static void get_a(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret)
{
	const struct matrices *p = ctx;

	msd_row_load(p->dtype, p->a,
		     msd_walk_place(&p->stacks, 0, stack) * p->a_size +
			     (int64_t)first * p->a_row + (int64_t)k * p->a_column,
		     p->a_row, count, ret);
}

static void get_b(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret)
{
	const struct matrices *p = ctx;

	msd_row_load(p->dtype, p->b,
		     msd_walk_place(&p->stacks, 1, stack) * p->b_size +
			     (int64_t)k * p->b_row + (int64_t)first * p->b_column,
		     p->b_column, count, ret);
}

static void get_bias(const void *ctx, size_t stack, size_t m, size_t first,
		     size_t count, double *ret)
{
	const struct matrices *p = ctx;

	(void)stack;
	(void)m;
	msd_row_load(p->dtype, p->bias, (int64_t)first, 1, count, ret);
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct matrices *p = ctx;

	for (size_t i = 0; i < count; i++)
		sums[i] *= p->scale;
	msd_row_store(p->dtype, p->y, (stack * p->m + m) * p->n + first, count, sums);
}

static void multiply(const struct matrices *p, size_t n_stacks, size_t k)
{
	const struct msd_product product = {
		.n_stacks = n_stacks,
		.m = p->m,
		.n = p->n,
		.k = k,
		.a = get_a,
		.b = get_b,
		.begin = p->bias != NULL ? get_bias : NULL,
		.end = put,
		.ctx = p,
	};

	msd_product_run(&product);
}

/* What is added to the product, stretched. */
static void add_bias(const struct msd_kernel_call *c)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const double beta = (double)msd_kernel_float(c, "beta");
	struct msd_walk w;
	size_t to = 0;

	msd_walk_init(&w, msd_kernel_out_dims(c, 0), 2);
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 2), msd_kernel_in_ndim(c, 2));
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t i = 0; i < w.n; i++, to++) {
			const int64_t from = w.at[0] + i * msd_walk_step(&w, 0);

			msd_row_put(dtype, c->out[0], to,
				    msd_row_at(dtype, c->out[0], to) +
					    beta * msd_row_at(dtype, c->in[2],
							      (size_t)from));
		}
	}
}

static msd_err run_gemm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const bool is_a = msd_kernel_int(c, "transA") != 0;
	const bool is_b = msd_kernel_int(c, "transB") != 0;
	struct matrices p = {
		.dtype = msd_kernel_in_dtype(c, 0),
		.a = c->in[0],
		.b = c->in[1],
		.y = c->out[0],
		.m = (size_t)msd_kernel_out_dims(c, 0)[0],
		.n = (size_t)msd_kernel_out_dims(c, 0)[1],
		.a_row = is_a ? 1 : a[1],
		.a_column = is_a ? a[1] : 1,
		.b_row = is_b ? 1 : b[1],
		.b_column = is_b ? b[1] : 1,
		.scale = (double)msd_kernel_float(c, "alpha"),
	};

	(void)d;
	multiply(&p, 1, (size_t)a[is_a ? 0 : 1]);
	if (msd_kernel_has(c, 2))
		add_bias(c);
	return MSD_OK;
}

/* x times the transposed weights; the sums begin with the bias. */
static msd_err run_fully_connected(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t depth = (size_t)msd_kernel_in_dims(c, 1)[1];
	const struct matrices p = {
		.dtype = msd_kernel_in_dtype(c, 0),
		.a = c->in[0],
		.b = c->in[1],
		.bias = msd_kernel_has(c, 2) ? c->in[2] : NULL,
		.y = c->out[0],
		.m = (size_t)msd_kernel_out_dims(c, 0)[0],
		.n = (size_t)msd_kernel_out_dims(c, 0)[1],
		.a_row = (int64_t)depth,
		.a_column = 1,
		.b_row = 1,
		.b_column = (int64_t)depth,
		.scale = 1,
	};

	(void)d;
	multiply(&p, 1, depth);
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
	const size_t stacked = stacked_a > stacked_b ? stacked_a : stacked_b;
	const int64_t rows = na > 1 ? a[na - 2] : 1;
	const int64_t columns = nb > 1 ? b[nb - 1] : 1;
	const int64_t k = a[na - 1];
	struct matrices p = {
		.dtype = msd_kernel_in_dtype(c, 0),
		.a = c->in[0],
		.b = c->in[1],
		.y = c->out[0],
		.m = (size_t)rows,
		.n = (size_t)columns,
		.a_row = k,
		.a_column = 1,
		.b_row = columns,
		.b_column = 1,
		.a_size = rows * k,
		.b_size = k * columns,
		.scale = 1,
	};

	(void)d;
	msd_walk_init(&p.stacks, msd_kernel_out_dims(c, 0), stacked);
	msd_walk_stretch(&p.stacks, a, stacked_a);
	msd_walk_stretch(&p.stacks, b, stacked_b);
	multiply(&p, msd_kernel_outer(msd_kernel_out_dims(c, 0), stacked), (size_t)k);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_gemm = {"Gemm", run_gemm, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_mat_mul = {"MatMul", run_mat_mul,
					      MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_fully_connected = {
	"FullyConnected", run_fully_connected, MSD_TAKES_FLOATS_ALONE};
