/* Det, by Gaussian elimination with partial pivoting. */
#include <math.h>
#include <stdlib.h>

#include "runtime/kernel/kernels.h"

/* Swap the row with the largest element of column @k into row @k. Returns the sign. */
static double pivot(double *a, size_t n, size_t k)
{
	size_t best = k;

	for (size_t row = k + 1; row < n; row++) {
		if (fabs(a[row * n + k]) > fabs(a[best * n + k]))
			best = row;
	}
	for (size_t i = 0; best != k && i < n; i++) {
		const double v = a[k * n + i];

		a[k * n + i] = a[best * n + i];
		a[best * n + i] = v;
	}
	return best == k ? 1 : -1;
}

static double determinant(double *a, size_t n)
{
	double product = 1;

	for (size_t k = 0; k < n; k++) {
		product *= pivot(a, n, k) * a[k * n + k];
		if (product == 0)
			return 0;
		for (size_t row = k + 1; row < n; row++) {
			const double by = a[row * n + k] / a[k * n + k];

			for (size_t i = k; i < n; i++)
				a[row * n + i] -= by * a[k * n + i];
		}
	}
	return product;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t n = (size_t)msd_kernel_in_dims(c, 0)[ndim - 1];
	double *a = calloc(n * n + 1, sizeof(*a));

	if (a == NULL)
		return msd_diag_no_memory(d);
	for (size_t k = 0; k < msd_kernel_out_elements(c, 0); k++) {
		for (size_t i = 0; i < n * n; i++)
			a[i] = msd_kernel_get(c, 0, k * n * n + i);
		msd_kernel_put(c, 0, k, determinant(a, n));
	}
	free(a);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_det = {"Det", run, MSD_TAKES_FLOATS};
