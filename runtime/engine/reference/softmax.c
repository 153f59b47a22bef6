/* Softmax along one axis. */
#include <math.h>

#include "runtime/engine/kernels.h"

/* @n elements, @step apart. */
static void run_line(const float *x, float *y, size_t n, size_t step)
{
	float most = -INFINITY;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		most = x[i * step] > most ? x[i * step] : most;
	for (size_t i = 0; i < n; i++)
		sum += exp((double)x[i * step] - (double)most);
	for (size_t i = 0; i < n; i++)
		y[i * step] = (float)(exp((double)x[i * step] - (double)most) / sum);
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t n = (size_t)dims[axis];
	const size_t inner = msd_kernel_inner(dims, ndim, axis);
	const size_t outer = msd_kernel_outer(dims, axis);

	(void)d;
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < inner; i++) {
			run_line(c->in[0] + o * n * inner + i,
				 c->out[0] + o * n * inner + i, n, inner);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_softmax = {"Softmax", run};
