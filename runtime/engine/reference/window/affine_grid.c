/* AffineGrid: each grid position, from -1 to 1 along each axis, times the image's
 * matrix. */
#include "graph/op/window/params.h"
#include "runtime/kernel/kernels.h"

/* Coordinate @i of @n: the centre of its element, or with @aligns the ends are the
 * first and last element. */
static double place(size_t i, size_t n, bool aligns)
{
	if (!aligns)
		return (2 * (double)i + 1) / (double)n - 1;
	return n > 1 ? 2 * (double)i / (double)(n - 1) - 1 : -1;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_out_dims(c, 0);
	const size_t axes = msd_kernel_out_ndim(c, 0) - 2;
	const size_t n = axes > 0 ? msd_kernel_out_elements(c, 0) / axes : 0;
	const size_t plane = msd_kernel_inner(dims, axes + 1, 0);
	const bool aligns = msd_params_affine_grid(c->node).align_corners != 0;

	(void)d;
	for (size_t i = 0; i < n; i++) {
		double at[3] = {0, 0, 0}; /* the last axis first */
		size_t left = i;

		for (size_t k = 0; k < axes; k++) {
			const size_t extent = (size_t)dims[axes - k];

			at[k] = place(left % extent, extent, aligns);
			left /= extent;
		}
		for (size_t row = 0; row < axes; row++) {
			const size_t first = (i / plane * axes + row) * (axes + 1);
			double sum = msd_kernel_get(c, 0, first + axes);

			for (size_t k = 0; k < axes; k++)
				sum += at[k] * msd_kernel_get(c, 0, first + k);
			msd_kernel_put(c, 0, i * axes + row, sum);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_affine_grid = {"AffineGrid", run, MSD_TAKES_FLOATS};
