/* Softmax, its logarithm and Hardmax along one axis, or along all axes from one on. */
#include <math.h>

#include "runtime/kernel/kernels.h"

/* @n elements from @at on, with a stride of @step. */
typedef void line_fn(const struct msd_kernel_call *c, size_t at, size_t n, size_t step);

static double most_of(const struct msd_kernel_call *c, size_t at, size_t n, size_t step)
{
	double most = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		const double v = msd_kernel_get(c, 0, at + i * step);

		most = v > most ? v : most;
	}
	return most;
}

static double sum_of(const struct msd_kernel_call *c, size_t at, size_t n, size_t step,
		     double most)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += exp(msd_kernel_get(c, 0, at + i * step) - most);
	return sum;
}

static void soft(const struct msd_kernel_call *c, size_t at, size_t n, size_t step)
{
	const double most = most_of(c, at, n, step);
	const double sum = sum_of(c, at, n, step, most);

	for (size_t i = at; i < at + n * step; i += step)
		msd_kernel_put(c, 0, i, exp(msd_kernel_get(c, 0, i) - most) / sum);
}

static void log_soft(const struct msd_kernel_call *c, size_t at, size_t n, size_t step)
{
	const double most = most_of(c, at, n, step);
	const double sum = sum_of(c, at, n, step, most);

	for (size_t i = at; i < at + n * step; i += step)
		msd_kernel_put(c, 0, i, msd_kernel_get(c, 0, i) - most - log(sum));
}

/* The first of the largest elements. */
static void hard(const struct msd_kernel_call *c, size_t at, size_t n, size_t step)
{
	size_t best = at;

	for (size_t i = at; i < at + n * step; i += step) {
		const bool is_more =
			msd_kernel_get(c, 0, i) > msd_kernel_get(c, 0, best);

		msd_kernel_put(c, 0, i, 0);
		best = is_more ? i : best;
	}
	if (n > 0)
		msd_kernel_put(c, 0, best, 1);
}

static msd_err run(const struct msd_kernel_call *c, line_fn *line)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	size_t inner = msd_kernel_inner(dims, ndim, axis);
	size_t n = (size_t)dims[axis];

	if (msd_kernel_int(c, "flattens") != 0) {
		n *= inner;
		inner = 1;
	}
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < inner; i++) {
			line(c, o * n * inner + i, n, inner);
		}
	}
	return MSD_OK;
}

static msd_err run_softmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, soft);
}

static msd_err run_log_softmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, log_soft);
}

static msd_err run_hardmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, hard);
}

const struct msd_kernel msd_kernel_softmax = {"Softmax", run_softmax,
					      MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_log_softmax = {"LogSoftmax", run_log_softmax,
						  MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_hardmax = {"Hardmax", run_hardmax,
					      MSD_TAKES_FLOATS_ALONE};
