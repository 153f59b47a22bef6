/* Deconvolution: each element of the input is spread over the output by the kernel. One
 * output channel of one image a part, sums in double. */
#include "graph/op/window.h"
#include "runtime/engine/kernels.h"

enum { DEPTH, HEIGHT, WIDTH };

struct deconv {
	const float *x;
	const float *w; /* input channel, output channel of its group, kernel */
	const float *bias;
	float *y;
	struct msd_op_window axes[MSD_OP_AXES];
	size_t in_channels;
	size_t channels;
	size_t group_in;
	size_t group_out;
	size_t in_plane;
	size_t out_plane;
	size_t taps;
};

/* The place in the input from which tap @k reaches place @o; -1: none does. */
static int64_t place(const struct msd_op_window *w, int64_t o, int64_t k)
{
	const int64_t from = o + w->before - k * w->dilation;

	if (from < 0 || from % w->stride != 0 || from / w->stride >= w->in)
		return -1;
	return from / w->stride;
}

/* What channel @x of the input gives to place @o by kernel @w. */
static double sum_channel(const struct deconv *c, const float *x, const float *w,
			  const int64_t o[MSD_OP_AXES])
{
	const struct msd_op_window *a = c->axes;
	double sum = 0;

	for (size_t k = 0; k < c->taps; k++) {
		const int64_t kw = (int64_t)k % a[WIDTH].kernel;
		const int64_t kh = (int64_t)k / a[WIDTH].kernel % a[HEIGHT].kernel;
		const int64_t kd = (int64_t)k / a[WIDTH].kernel / a[HEIGHT].kernel;
		const int64_t id = place(&a[DEPTH], o[DEPTH], kd);
		const int64_t ih = place(&a[HEIGHT], o[HEIGHT], kh);
		const int64_t iw = place(&a[WIDTH], o[WIDTH], kw);

		if (id >= 0 && ih >= 0 && iw >= 0) {
			sum += (double)x[(id * a[HEIGHT].in + ih) * a[WIDTH].in + iw] *
			       (double)w[k];
		}
	}
	return sum;
}

static void run_channel(const void *ctx, size_t part)
{
	const struct deconv *c = ctx;
	const struct msd_op_window *a = c->axes;
	const size_t channel = part % c->channels;
	const size_t image = part / c->channels;
	const size_t first = channel / c->group_out * c->group_in;
	float *y = c->y + part * c->out_plane;
	int64_t o[MSD_OP_AXES];

	for (size_t i = 0; i < c->out_plane; i++) {
		double sum = c->bias != NULL ? (double)c->bias[channel] : 0;

		o[WIDTH] = (int64_t)i % a[WIDTH].out;
		o[HEIGHT] = (int64_t)i / a[WIDTH].out % a[HEIGHT].out;
		o[DEPTH] = (int64_t)i / a[WIDTH].out / a[HEIGHT].out;
		for (size_t k = first; k < first + c->group_in; k++) {
			sum += sum_channel(
				c, c->x + (image * c->in_channels + k) * c->in_plane,
				c->w + (k * c->group_out + channel % c->group_out) *
						c->taps,
				o);
		}
		y[i] = (float)sum;
	}
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const size_t group = (size_t)msd_kernel_int(call, "group");
	struct deconv c = {
		.x = msd_kernel_in(call, 0),
		.w = msd_kernel_in(call, 1),
		.bias = msd_kernel_has(call, 2) ? msd_kernel_in(call, 2) : NULL,
		.y = msd_kernel_out(call, 0),
		.in_channels = (size_t)msd_kernel_in_dims(call, 0)[1],
		.channels = (size_t)msd_kernel_out_dims(call, 0)[1],
		.group_out = (size_t)msd_kernel_in_dims(call, 1)[1],
		.in_plane = 1,
		.out_plane = 1,
		.taps = 1,
	};

	(void)d;
	c.group_in = c.in_channels / group;
	msd_op_deconv_windows(call->node, c.axes);
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		c.in_plane *= (size_t)c.axes[i].in;
		c.out_plane *= (size_t)c.axes[i].out;
		c.taps *= (size_t)c.axes[i].kernel;
	}
	msd_kernel_each((size_t)msd_kernel_out_dims(call, 0)[0] * c.channels,
			run_channel, &c);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_deconvolution = {"Deconvolution", run,
						    MSD_TAKES_FLOAT32};
