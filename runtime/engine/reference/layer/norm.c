/* Normalizations: InstanceNorm, LayerNorm and LRN. */
#include <math.h>

#include "runtime/kernel/kernels.h"

/* Sum over the channels around channel @k of the image at @x: @before on one side,
 * @after on the other. */
static double sum_of_squares(const struct msd_kernel_call *c, size_t x, size_t k,
			     size_t channels, size_t plane, size_t before, size_t after)
{
	const size_t from = k > before ? k - before : 0;
	const size_t to = k + after < channels ? k + after + 1 : channels;
	double sum = 0;

	for (size_t i = from; i < to; i++) {
		const double v = msd_kernel_get(c, 0, x + i * plane);

		sum += v * v;
	}
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
	/* In ONNX the larger half of an even window is after the channel. */
	const size_t before =
		(size_t)(msd_kernel_int(c, "is_onnx") != 0 ? size - 1 : size) / 2;

	if (msd_kernel_int(c, "norm_region") != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "LRN within a channel cannot be run");
	}
	for (size_t i = 0; i < n; i++) {
		const size_t k = i / plane % channels;
		const size_t x = i / (plane * channels) * plane * channels + i % plane;
		const double sum = sum_of_squares(c, x, k, channels, plane, before,
						  (size_t)size / 2);

		msd_kernel_put(
			c, 0, i,
			msd_kernel_get(c, 0, i) *
				pow((double)msd_kernel_float(c, "k") + alpha * sum,
				    -(double)msd_kernel_float(c, "beta")));
	}
	return MSD_OK;
}

/* Mean and inverse deviation of @n elements from @x on, summed in double. */
static void moments(const struct msd_kernel_call *c, size_t x, size_t n, double eps,
		    double *ret_mean, double *ret_inverse)
{
	double sum = 0;
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += msd_kernel_get(c, 0, x + i);
	const double mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		const double v = msd_kernel_get(c, 0, x + i) - mean;

		squares += v * v;
	}
	*ret_mean = mean;
	*ret_inverse = 1 / sqrt(squares / (double)n + eps);
}

static msd_err run_instance_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t channels = (size_t)dims[1];
	const double eps = (double)msd_kernel_float(c, "eps");

	(void)d;
	for (size_t p = 0; p < (size_t)dims[0] * channels; p++) {
		const size_t k = p % channels;
		const double scale = msd_kernel_has(c, 1) ? msd_kernel_get(c, 1, k) : 1;
		const double bias = msd_kernel_has(c, 2) ? msd_kernel_get(c, 2, k) : 0;
		double mean;
		double inverse;

		moments(c, p * plane, plane, eps, &mean, &inverse);
		for (size_t i = p * plane; i < (p + 1) * plane; i++) {
			const double v = msd_kernel_get(c, 0, i) - mean;

			msd_kernel_put(c, 0, i, v * inverse * scale + bias);
		}
	}
	return MSD_OK;
}

static msd_err run_layer_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	const size_t n = msd_kernel_outer(dims, ndim) / (outer > 0 ? outer : 1);
	const double eps = (double)msd_kernel_float(c, "eps");

	(void)d;
	for (size_t o = 0; o < outer; o++) {
		double mean;
		double inverse;

		moments(c, o * n, n, eps, &mean, &inverse);
		for (size_t i = 0; i < n; i++) {
			const double scale =
				msd_kernel_has(c, 1) ? msd_kernel_get(c, 1, i) : 1;
			const double bias =
				msd_kernel_has(c, 2) ? msd_kernel_get(c, 2, i) : 0;
			const double v = msd_kernel_get(c, 0, o * n + i) - mean;

			msd_kernel_put(c, 0, o * n + i, v * inverse * scale + bias);
		}
		if (modser_sg_node_output(c->node, 1) != NULL)
			msd_kernel_put(c, 1, o, mean);
		if (modser_sg_node_output(c->node, 2) != NULL)
			msd_kernel_put(c, 2, o, inverse);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_instance_norm = {"InstanceNorm", run_instance_norm,
						    MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_layer_norm = {"LayerNorm", run_layer_norm,
						 MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_lrn = {"LRN", run_lrn, MSD_TAKES_FLOATS_ALONE};
