/* Softmax, its logarithm and Hardmax along one axis, or along all from one on. */
#include <math.h>

#include "runtime/engine/kernels.h"

/* @n elements, @step apart. */
typedef void line_fn(const float *x, float *y, size_t n, size_t step);

static double most_of(const float *x, size_t n, size_t step)
{
	float most = -INFINITY;

	for (size_t i = 0; i < n; i++)
		most = x[i * step] > most ? x[i * step] : most;
	return (double)most;
}

static double sum_of(const float *x, size_t n, size_t step, double most)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += exp((double)x[i * step] - most);
	return sum;
}

static void soft(const float *x, float *y, size_t n, size_t step)
{
	const double most = most_of(x, n, step);
	const double sum = sum_of(x, n, step, most);

	for (size_t i = 0; i < n; i++)
		y[i * step] = (float)(exp((double)x[i * step] - most) / sum);
}

static void log_soft(const float *x, float *y, size_t n, size_t step)
{
	const double most = most_of(x, n, step);
	const double sum = sum_of(x, n, step, most);

	for (size_t i = 0; i < n; i++)
		y[i * step] = (float)((double)x[i * step] - most - log(sum));
}

/* The first of the largest. */
static void hard(const float *x, float *y, size_t n, size_t step)
{
	size_t best = 0;

	for (size_t i = 0; i < n; i++) {
		y[i * step] = 0;
		best = x[i * step] > x[best * step] ? i : best;
	}
	if (n > 0)
		y[best * step] = 1;
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
			line(msd_kernel_in(c, 0) + o * n * inner + i,
			     msd_kernel_out(c, 0) + o * n * inner + i, n, inner);
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
					      MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_log_softmax = {"LogSoftmax", run_log_softmax,
						  MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_hardmax = {"Hardmax", run_hardmax,
					      MSD_TAKES_FLOAT32};
