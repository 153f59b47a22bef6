/* BatchNormalization and LRN. */
#include <math.h>

#include "runtime/engine/kernels.h"

static msd_err run_batch_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t channels = (size_t)dims[1];
	const size_t n = msd_kernel_out_elements(c, 0);
	const double factor = (double)msd_kernel_float(c, "rescale_factor");
	const double rescale = factor != 0 ? 1 / factor : 0;
	const double eps = (double)msd_kernel_float(c, "eps");

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const size_t k = i / plane % channels;
		const double mean = (double)c->in[3][k] * rescale;
		const double variance = (double)c->in[4][k] * rescale;
		const double v = ((double)c->in[0][i] - mean) / sqrt(variance + eps);

		c->out[0][i] = (float)(v * (double)c->in[1][k] + (double)c->in[2][k]);
	}
	return MSD_OK;
}

/* The channels around channel @k, half of the window on each side. */
static double sum_of_squares(const float *x, size_t k, size_t channels, size_t plane,
			     size_t half)
{
	const size_t from = k > half ? k - half : 0;
	const size_t to = k + half < channels ? k + half + 1 : channels;
	double sum = 0;

	for (size_t i = from; i < to; i++)
		sum += (double)x[i * plane] * (double)x[i * plane];
	return sum;
}

static msd_err run_lrn(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t channels = (size_t)dims[1];
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t n = msd_kernel_out_elements(c, 0);
	const int64_t size = msd_kernel_int(c, "local_size");
	const double alpha = (double)msd_kernel_float(c, "alpha") / (double)size;

	if (msd_kernel_int(c, "norm_region") != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "LRN within a channel cannot be run");
	}
	for (size_t i = 0; i < n; i++) {
		const size_t k = i / plane % channels;
		const float *x = c->in[0] + i / (plane * channels) * plane * channels +
				 i % plane;
		const double sum =
			sum_of_squares(x, k, channels, plane, (size_t)size / 2);

		c->out[0][i] =
			(float)((double)c->in[0][i] *
				pow((double)msd_kernel_float(c, "k") + alpha * sum,
				    -(double)msd_kernel_float(c, "beta")));
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_batch_normalization = {"BatchNormalization",
							  run_batch_norm};
const struct msd_kernel msd_kernel_lrn = {"LRN", run_lrn};
