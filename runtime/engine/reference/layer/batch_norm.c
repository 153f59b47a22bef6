/*
 * BatchNormalization: normalises each channel by a given mean and variance or, in
 * training, by those of the call's own elements; then the running values are updated.
 */
#include <math.h>

#include "runtime/kernel/kernels.h"

enum { SCALE = 1, SHIFT, MEAN, VARIANCE }; /* inputs, one element per channel */

/* Layout of a channel's elements in a tensor: planes with a stride of @step. */
struct channels {
	size_t n;
	size_t plane;
	size_t n_planes; /* per channel */
	size_t step;
};

static struct channels channels_of(const struct msd_kernel_call *c)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t n = (size_t)dims[1];

	return (struct channels){n, plane, (size_t)dims[0], n * plane};
}

/* Given mean and variance of channel @k. */
static void moments_given(const struct msd_kernel_call *c, size_t k, double *ret_mean,
			  double *ret_variance)
{
	const double factor = (double)msd_kernel_float(c, "rescale_factor");
	const double rescale = factor != 0 ? 1 / factor : 0;

	*ret_mean = msd_kernel_get(c, MEAN, k) * rescale;
	*ret_variance = msd_kernel_get(c, VARIANCE, k) * rescale;
}

static void moments_of(const struct msd_kernel_call *c, const struct channels *ch,
		       size_t k, double *ret_mean, double *ret_variance)
{
	const double n = (double)(ch->n_planes * ch->plane);
	double sum = 0;
	double squares = 0;

	for (size_t p = 0; p < ch->n_planes; p++) {
		for (size_t i = 0; i < ch->plane; i++) {
			sum += msd_kernel_get(c, 0, p * ch->step + k * ch->plane + i);
		}
	}
	for (size_t p = 0; p < ch->n_planes; p++) {
		for (size_t i = 0; i < ch->plane; i++) {
			const size_t at = p * ch->step + k * ch->plane + i;
			const double v = msd_kernel_get(c, 0, at) - sum / n;

			squares += v * v;
		}
	}
	*ret_mean = sum / n;
	*ret_variance = squares / n;
}

/* Write the running value, updated with that of the call, to output @i - 2. */
static void put_moved(const struct msd_kernel_call *c, size_t i, size_t k, double now)
{
	const size_t out = i - 2;
	const double momentum = (double)msd_kernel_float(c, "momentum");

	if (out < modser_sg_node_output_count(c->node) && c->out[out] != NULL) {
		msd_kernel_put(c, out, k,
			       msd_kernel_get(c, i, k) * momentum +
				       now * (1 - momentum));
	}
}

static void run_channel(const struct msd_kernel_call *c, const struct channels *ch,
			size_t k)
{
	double mean;
	double variance;

	if (msd_kernel_int(c, "training_mode") != 0) {
		moments_of(c, ch, k, &mean, &variance);
		put_moved(c, MEAN, k, mean);
		put_moved(c, VARIANCE, k, variance);
	} else {
		moments_given(c, k, &mean, &variance);
	}
	const double deviation = sqrt(variance + (double)msd_kernel_float(c, "eps"));
	for (size_t p = 0; p < ch->n_planes; p++) {
		for (size_t i = 0; i < ch->plane; i++) {
			const size_t at = p * ch->step + k * ch->plane + i;
			const double v = (msd_kernel_get(c, 0, at) - mean) / deviation;

			msd_kernel_put(c, 0, at,
				       v * msd_kernel_get(c, SCALE, k) +
					       msd_kernel_get(c, SHIFT, k));
		}
	}
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct channels ch = channels_of(c);

	(void)d;
	for (size_t k = 0; k < ch.n; k++)
		run_channel(c, &ch, k);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_batch_normalization = {"BatchNormalization", run,
							  MSD_TAKES_FLOATS_ALONE};
