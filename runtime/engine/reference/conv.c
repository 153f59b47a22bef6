#include "runtime/engine/reference/conv.h"

void msd_conv_operands(const struct msd_kernel_call *call, struct msd_conv *c)
{
	c->dtype = msd_kernel_in_dtype(call, 0);
	c->x = call->in[0];
	c->w = call->in[1];
	c->bias = msd_kernel_has(call, 2) ? call->in[2] : NULL;
	c->y = call->out[0];
	c->in_channels = (size_t)msd_kernel_in_dims(call, 0)[1];
	c->channels = (size_t)msd_kernel_out_dims(call, 0)[1];
	c->in_plane = c->out_plane = c->taps = 1;
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		c->in_plane *= (size_t)c->axes[i].in;
		c->out_plane *= (size_t)c->axes[i].out;
		c->taps *= (size_t)c->axes[i].kernel;
	}
}

void msd_conv_place(const struct msd_conv *c, size_t i, int64_t ret[MSD_OP_AXES])
{
	const struct msd_op_window *a = c->axes;

	ret[MSD_CONV_WIDTH] = (int64_t)i % a[MSD_CONV_WIDTH].out;
	ret[MSD_CONV_HEIGHT] =
		(int64_t)i / a[MSD_CONV_WIDTH].out % a[MSD_CONV_HEIGHT].out;
	ret[MSD_CONV_DEPTH] =
		(int64_t)i / a[MSD_CONV_WIDTH].out / a[MSD_CONV_HEIGHT].out;
}
