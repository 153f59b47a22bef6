/* Convolution: one output channel of one image a part, sums in double. */
#include "graph/op/window.h"
#include "runtime/engine/kernels.h"

struct conv {
	const float *x;
	const float *w;
	const float *bias; /* NULL: none */
	float *y;
	const int64_t *in;  /* n, c, h, w */
	const int64_t *out; /* the same */
	struct msd_op_window h;
	struct msd_op_window w_axis;
	size_t group_in; /* channels of input and output in a group */
	size_t group_out;
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

/* The sum for one channel of input at the output's place @oh, @ow. */
static double sum_channel(const struct conv *c, const float *x, const float *w,
			  int64_t oh, int64_t ow)
{
	double sum = 0;

	for (int64_t kh = 0; kh < c->h.kernel; kh++) {
		const int64_t ih = oh * c->h.stride - c->h.before + kh * c->h.dilation;

		if (ih < 0 || ih >= c->in[2])
			continue;
		for (int64_t kw = 0; kw < c->w_axis.kernel; kw++) {
			const int64_t iw = ow * c->w_axis.stride - c->w_axis.before +
					   kw * c->w_axis.dilation;

			if (iw >= 0 && iw < c->in[3]) {
				sum += (double)x[ih * c->in[3] + iw] *
				       (double)w[kh * c->w_axis.kernel + kw];
			}
		}
	}
	return sum;
}

static void run_channel(const void *ctx, size_t part)
{
	const struct conv *c = ctx;
	const size_t channel = part % (size_t)c->out[1];
	const size_t image = part / (size_t)c->out[1];
	const size_t plane = (size_t)(c->in[2] * c->in[3]);
	const size_t taps = (size_t)(c->h.kernel * c->w_axis.kernel);
	const float *x = c->x + (image * (size_t)c->in[1] +
				 channel / c->group_out * c->group_in) *
					plane;
	const float *w = c->w + channel * c->group_in * taps;
	float *y = c->y + part * (size_t)(c->out[2] * c->out[3]);

	for (int64_t oh = 0; oh < c->out[2]; oh++) {
		for (int64_t ow = 0; ow < c->out[3]; ow++) {
			double sum = c->bias != NULL ? (double)c->bias[channel] : 0;

			for (size_t i = 0; i < c->group_in; i++) {
				sum += sum_channel(c, x + i * plane, w + i * taps, oh,
						   ow);
			}
			*y++ = activate(sum, c->activation);
		}
	}
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	struct conv c = {
		.x = call->in[0],
		.w = call->in[1],
		.bias = modser_sg_node_input(call->node, 2) != NULL ? call->in[2]
								    : NULL,
		.y = call->out[0],
		.in = msd_kernel_in_dims(call, 0),
		.out = msd_kernel_out_dims(call, 0),
		.group_in = (size_t)msd_kernel_in_dims(call, 1)[1],
		.activation = msd_kernel_int(call, "activation"),
	};

	(void)d;
	c.group_out = (size_t)(c.out[1] / msd_kernel_int(call, "group"));
	msd_op_conv_windows(call->node, &c.h, &c.w_axis);
	msd_kernel_each((size_t)(c.out[0] * c.out[1]), run_channel, &c);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_convolution = {"Convolution", run};
