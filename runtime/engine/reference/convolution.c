/* Convolution: one output channel of one image a part, sums in double. */
#include "runtime/engine/kernels.h"
#include "runtime/engine/reference/conv.h"

struct convolution {
	struct msd_conv c;
	int64_t activation;
};

static float activate(double v, int64_t activation)
{
	if (activation == 0)
		return (float)(v > 0 ? v : 0);
	if (activation == 1)
		return (float)(v < -1 ? -1 : v > 1 ? 1 : v);
	if (activation == 6)
		return (float)(v < 0 ? 0 : v > 6 ? 6 : v);
	return (float)v;
}

/* The place in the input that tap @k looks at from place @o; outside of it: padding. */
static int64_t place(const struct msd_op_window *w, int64_t o, int64_t k)
{
	return o * w->stride - w->before + k * w->dilation;
}

/* The sum along the width of one row of input and kernel. */
static double sum_row(const struct msd_op_window *width, const float *x, const float *w,
		      int64_t ow)
{
	double sum = 0;

	for (int64_t kw = 0; kw < width->kernel; kw++) {
		const int64_t iw = place(width, ow, kw);

		if (iw >= 0 && iw < width->in)
			sum += (double)x[iw] * (double)w[kw];
	}
	return sum;
}

/* The sum for one channel of input at the output's place @o. */
static double sum_channel(const struct msd_conv *c, const float *x, const float *w,
			  const int64_t o[MSD_OP_AXES])
{
	const struct msd_op_window *a = c->axes;
	double sum = 0;

	for (int64_t kd = 0; kd < a[MSD_CONV_DEPTH].kernel; kd++) {
		const int64_t id = place(&a[MSD_CONV_DEPTH], o[MSD_CONV_DEPTH], kd);

		for (int64_t kh = 0; kh < a[MSD_CONV_HEIGHT].kernel; kh++) {
			const int64_t ih =
				place(&a[MSD_CONV_HEIGHT], o[MSD_CONV_HEIGHT], kh);

			if (id >= 0 && id < a[MSD_CONV_DEPTH].in && ih >= 0 &&
			    ih < a[MSD_CONV_HEIGHT].in) {
				sum += sum_row(&a[MSD_CONV_WIDTH],
					       x + (id * a[MSD_CONV_HEIGHT].in + ih) *
							       a[MSD_CONV_WIDTH].in,
					       w + (kd * a[MSD_CONV_HEIGHT].kernel +
						    kh) * a[MSD_CONV_WIDTH].kernel,
					       o[MSD_CONV_WIDTH]);
			}
		}
	}
	return sum;
}

static void run_channel(const void *ctx, size_t part)
{
	const struct convolution *all = ctx;
	const struct msd_conv *c = &all->c;
	const size_t channel = part % c->channels;
	const size_t image = part / c->channels;
	const float *x =
		c->x + (image * c->in_channels + channel / c->group_out * c->group_in) *
			       c->in_plane;
	const float *w = c->w + channel * c->group_in * c->taps;
	float *y = c->y + part * c->out_plane;
	int64_t o[MSD_OP_AXES];

	for (size_t i = 0; i < c->out_plane; i++) {
		double sum = c->bias != NULL ? (double)c->bias[channel] : 0;

		msd_conv_place(c, i, o);
		for (size_t k = 0; k < c->group_in; k++)
			sum += sum_channel(c, x + k * c->in_plane, w + k * c->taps, o);
		y[i] = activate(sum, all->activation);
	}
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	struct convolution all = {.activation = msd_kernel_int(call, "activation")};
	struct msd_conv *c = &all.c;

	(void)d;
	msd_op_conv_windows(call->node, c->axes);
	msd_conv_operands(call, c);
	c->group_in = (size_t)msd_kernel_in_dims(call, 1)[1];
	c->group_out = c->channels / (size_t)msd_kernel_int(call, "group");
	msd_kernel_each((size_t)msd_kernel_out_dims(call, 0)[0] * c->channels,
			run_channel, &all);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_convolution = {"Convolution", run,
						  MSD_TAKES_FLOAT32};
