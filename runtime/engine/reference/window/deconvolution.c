/* Deconvolution: the kernel spreads each input element over the output. One part is
 * one output channel of one image; sums are doubles. */
#include "runtime/kernel/kernels.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/row.h"

/* The input position from which tap @k reaches output position @o; -1: none. */
static int64_t place(const struct msd_op_window *w, int64_t o, int64_t k)
{
	const int64_t from = o + w->before - k * w->dilation;

	if (from < 0 || from % w->stride != 0 || from / w->stride >= w->in)
		return -1;
	return from / w->stride;
}

/* Contribution of the input channel at @x to output position @o with the kernel at
 * @w. */
static double sum_channel(const struct msd_conv *c, size_t x, size_t w,
			  const int64_t o[MSD_OP_AXES])
{
	const struct msd_op_window *a = c->axes;
	double sum = 0;

	for (size_t k = 0; k < c->taps; k++) {
		const int64_t kw = (int64_t)k % a[MSD_CONV_WIDTH].kernel;
		const int64_t kh = (int64_t)k / a[MSD_CONV_WIDTH].kernel %
				   a[MSD_CONV_HEIGHT].kernel;
		const int64_t kd = (int64_t)k / a[MSD_CONV_WIDTH].kernel /
				   a[MSD_CONV_HEIGHT].kernel;
		const int64_t id = place(&a[MSD_CONV_DEPTH], o[MSD_CONV_DEPTH], kd);
		const int64_t ih = place(&a[MSD_CONV_HEIGHT], o[MSD_CONV_HEIGHT], kh);
		const int64_t iw = place(&a[MSD_CONV_WIDTH], o[MSD_CONV_WIDTH], kw);

		if (id >= 0 && ih >= 0 && iw >= 0) {
			const int64_t at = (id * a[MSD_CONV_HEIGHT].in + ih) *
						   a[MSD_CONV_WIDTH].in +
					   iw;

			sum += msd_row_at(c->dtype, c->x, x + (size_t)at) *
			       msd_row_at(c->dtype, c->w, w + k);
		}
	}
	return sum;
}

static void run_channel(const void *ctx, size_t part)
{
	const struct msd_conv *c = ctx;
	const size_t channel = part % c->channels;
	const size_t image = part / c->channels;
	const size_t first = channel / c->group_out * c->group_in;
	int64_t o[MSD_OP_AXES];

	for (size_t i = 0; i < c->out_plane; i++) {
		double sum =
			c->bias != NULL ? msd_row_at(c->dtype, c->bias, channel) : 0;

		msd_conv_place(c, i, o);
		for (size_t k = first; k < first + c->group_in; k++) {
			sum += sum_channel(
				c, (image * c->in_channels + k) * c->in_plane,
				(k * c->group_out + channel % c->group_out) * c->taps,
				o);
		}
		msd_row_put(c->dtype, c->y, part * c->out_plane + i, sum);
	}
}

/* The weights are ordered by input channel, then by output channel of its group. */
static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	struct msd_conv c;

	(void)d;
	msd_op_deconv_windows(call->node, c.axes);
	msd_conv_operands(call, &c);
	c.bias = msd_kernel_has(call, 2) ? call->in[2] : NULL;
	msd_kernel_each((size_t)msd_kernel_out_dims(call, 0)[0] * c.channels,
			run_channel, &c);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_deconvolution = {"Deconvolution", run,
						    MSD_TAKES_FLOATS_ALONE};
