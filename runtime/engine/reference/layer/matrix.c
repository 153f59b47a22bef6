/* Products of matrices: Gemm, MatMul and FullyConnected. */
#include "graph/op/layer/params.h"
#include "runtime/engine/reference/layer/product.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

/* Two matrices, each with its own strides, in stacks that a walk iterates. */
struct matrices {
	struct msd_dtype dtype;
	const void *a;
	const void *b;
	const void *bias; /* one per column; NULL: none */
	void *y;
	size_t m;
	size_t n;
	int64_t k;
	int64_t a_row, a_column;
	int64_t b_row, b_column;
	int64_t a_size, b_size; /* elements per matrix of a stack */
	struct msd_walk stacks;
	double scale;
	const void *more; /* addend of the scaled product; NULL: none */
	double more_scale;
	int64_t more_row, more_column;
};

/* Addend of an element of the product. */
static double more_at(const struct matrices *p, size_t m, size_t n)
{
	const int64_t at = (int64_t)m * p->more_row + (int64_t)n * p->more_column;

	return p->more_scale * msd_row_at(p->dtype, p->more, (size_t)at);
}

static void get_a(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret)
{
	const struct matrices *p = ctx;

	msd_row_load(p->dtype, p->a,
		     msd_walk_place(&p->stacks, 0, stack) * p->a_size +
			     (int64_t)m * p->a_row + (int64_t)first * p->a_column,
		     p->a_column, count, ret);
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

static void get_column(const void *ctx, size_t stack, size_t n, size_t first,
		       size_t count, double *ret)
{
	const struct matrices *p = ctx;

	msd_row_load(p->dtype, p->b,
		     msd_walk_place(&p->stacks, 1, stack) * p->b_size +
			     (int64_t)first * p->b_row + (int64_t)n * p->b_column,
		     p->b_row, count, ret);
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
	for (size_t i = 0; p->more != NULL && i < count; i++)
		sums[i] += more_at(p, m, first + i);
	msd_row_store(p->dtype, p->y, (stack * p->m + m) * p->n + first, count, sums);
}

static uint64_t whole(const struct matrices *p, const void *from, int64_t i)
{
	return (uint64_t)msd_number_load(p->dtype, from, i).i;
}

/* Store an integer element, which wraps on overflow: sums of doubles would lose bits
 * beyond 2^53. @m: the row of the stack. */
static void put_whole(const struct matrices *p, size_t m, size_t n, size_t i,
		      uint64_t sum)
{
	const int64_t at = (int64_t)m * p->more_row + (int64_t)n * p->more_column;

	if (p->scale == 1 && p->more == NULL) {
		msd_number_store(p->dtype, p->y, (int64_t)i, (int64_t)sum);
	} else if (p->scale == 1 && p->more_scale == 1) {
		msd_number_store(p->dtype, p->y, (int64_t)i,
				 (int64_t)(sum + whole(p, p->more, at)));
	} else {
		const double more = p->more != NULL ? more_at(p, m, n) : 0;
		const double product = msd_number_kind(p->dtype) == MSD_N_UINT64
					       ? (double)sum
					       : (double)(int64_t)sum;

		msd_row_put(p->dtype, p->y, i, product * p->scale + more);
	}
}

static void run_whole_row(const void *ctx, size_t i)
{
	const struct matrices *p = ctx;
	const size_t stack = i / p->m;
	const size_t m = i % p->m;
	const int64_t a = msd_walk_place(&p->stacks, 0, stack) * p->a_size +
			  (int64_t)m * p->a_row;
	const int64_t b = msd_walk_place(&p->stacks, 1, stack) * p->b_size;

	for (size_t n = 0; n < p->n; n++) {
		const int64_t top = b + (int64_t)n * p->b_column;
		uint64_t sum = 0;

		for (int64_t k = 0; k < p->k; k++) {
			sum += whole(p, p->a, a + k * p->a_column) *
			       whole(p, p->b, top + k * p->b_row);
		}
		put_whole(p, m, n, i * p->n + n, sum);
	}
}

static void multiply(const struct matrices *p, size_t n_stacks)
{
	const struct msd_product product = {
		.n_stacks = n_stacks,
		.m = p->m,
		.n = p->n,
		.k = (size_t)p->k,
		.a = get_a,
		.b = get_b,
		.columns = p->b_row == 1 && p->b_column != 1 ? get_column : NULL,
		.begin = p->bias != NULL ? get_bias : NULL,
		.end = put,
		.ctx = p,
	};

	if (msd_number_kind(p->dtype) == MSD_N_FLOAT) {
		msd_product_run(&product);
	} else {
		msd_kernel_each(n_stacks * p->m, p->n * (size_t)p->k, run_whole_row, p);
	}
}

/* Read the addend of the product, broadcast from one or two axes or a scalar. */
static void read_more(const struct msd_kernel_call *c, struct matrices *p)
{
	const int64_t *dims = msd_kernel_in_dims(c, 2);
	const size_t n = msd_kernel_in_ndim(c, 2);

	p->more = c->in[2];
	p->more_scale = (double)msd_params_gemm(c->node).beta;
	p->more_column = n > 0 && dims[n - 1] != 1 ? 1 : 0;
	p->more_row = n > 1 && dims[n - 2] != 1 ? dims[n - 1] : 0;
}

static msd_err run_gemm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *a = msd_kernel_in_dims(c, 0);
	const int64_t *b = msd_kernel_in_dims(c, 1);
	const bool is_a = msd_params_gemm(c->node).transA != 0;
	const bool is_b = msd_params_gemm(c->node).transB != 0;
	struct matrices p = {
		.dtype = msd_kernel_in_dtype(c, 0),
		.a = c->in[0],
		.b = c->in[1],
		.y = c->out[0],
		.m = (size_t)msd_kernel_out_dims(c, 0)[0],
		.n = (size_t)msd_kernel_out_dims(c, 0)[1],
		.k = a[is_a ? 0 : 1],
		.a_row = is_a ? 1 : a[1],
		.a_column = is_a ? a[1] : 1,
		.b_row = is_b ? 1 : b[1],
		.b_column = is_b ? b[1] : 1,
		.scale = (double)msd_params_gemm(c->node).alpha,
	};

	(void)d;
	if (msd_kernel_has(c, 2))
		read_more(c, &p);
	multiply(&p, 1);
	return MSD_OK;
}

/* x times the transposed weights; the sums start with the bias. */
static msd_err run_fully_connected(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t depth = msd_kernel_in_dims(c, 1)[1];
	const struct matrices p = {
		.dtype = msd_kernel_in_dtype(c, 0),
		.a = c->in[0],
		.b = c->in[1],
		.bias = msd_kernel_has(c, 2) ? c->in[2] : NULL,
		.y = c->out[0],
		.m = (size_t)msd_kernel_out_dims(c, 0)[0],
		.n = (size_t)msd_kernel_out_dims(c, 0)[1],
		.k = depth,
		.a_row = depth,
		.a_column = 1,
		.b_row = 1,
		.b_column = depth,
		.scale = 1,
	};

	(void)d;
	multiply(&p, 1);
	return MSD_OK;
}

/* Axes before the last two are broadcast; a vector is a row on the left, a column on
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
		.k = k,
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
	multiply(&p, msd_kernel_outer(msd_kernel_out_dims(c, 0), stacked));
	return MSD_OK;
}

/* bool has no products; inference rejects it. */
const struct msd_kernel msd_kernel_gemm = {"Gemm", run_gemm, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_mat_mul = {"MatMul", run_mat_mul, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_fully_connected = {
	"FullyConnected", run_fully_connected, MSD_TAKES_FLOATS_ALONE};
