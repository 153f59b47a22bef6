/* RMSNorm. */
#include <math.h>

#include "graph/op/layer/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

/* The inverse root of the mean of the squares of @n elements from @x on. */
static double inverse_root(const struct msd_kernel_call *c, size_t x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const double v = msd_kernel_get(c, 0, x + i);

		sum += v * v;
	}
	return 1 / sqrt(sum / (double)n + (double)msd_params_rms_norm(c->node).eps);
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_rms_norm(c->node).axis, ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	const size_t n = msd_kernel_outer(dims, ndim) / (outer > 0 ? outer : 1);
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, dims, ndim);
	msd_walk_stretch(&w, msd_kernel_in_dims(c, 1), msd_kernel_in_ndim(c, 1));
	for (size_t x = 0; n > 0 && x < outer * n; x += n) {
		const double inverse = inverse_root(c, x, n);

		for (size_t i = x; i < x + n; i++) {
			const int64_t scale = msd_walk_place(&w, 0, i);

			msd_kernel_put(c, 0, i,
				       msd_kernel_get(c, 0, i) * inverse *
					       msd_kernel_get(c, 1, (size_t)scale));
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_rms_norm = {"RMSNorm", run, MSD_TAKES_FLOATS_ALONE};
