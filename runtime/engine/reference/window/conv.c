#include "runtime/engine/reference/window/conv.h"

#include "runtime/kernel/row.h"

void msd_conv_operands(const struct msd_kernel_call *call, int64_t group,
		       struct msd_conv *c)
{
	const size_t weights = msd_op_conv_weights(call->node);

	c->dtype = msd_kernel_in_dtype(call, 0);
	c->x = call->in[0];
	c->w = call->in[weights];
	c->w_dtype = msd_kernel_in_dtype(call, weights);
	c->y = call->out[0];
	c->in_channels = (size_t)msd_kernel_in_dims(call, 0)[1];
	c->channels = (size_t)msd_kernel_out_dims(call, 0)[1];
	c->n_groups = (size_t)group;
	c->group_in = c->in_channels / c->n_groups;
	c->group_out = c->channels / c->n_groups;
	c->in_plane = c->out_plane = c->taps = 1;
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		c->in_plane *= (size_t)c->axes[i].in;
		c->out_plane *= (size_t)c->axes[i].out;
		c->taps *= (size_t)c->axes[i].kernel;
	}
}

size_t msd_conv_channel(const struct msd_conv *c, size_t stack, size_t m)
{
	return stack % c->n_groups * c->group_out + m;
}

void msd_conv_kernels(const void *ctx, size_t stack, size_t m, size_t first,
		      size_t count, double *ret)
{
	const struct msd_conv *c = ctx;
	const size_t depth = c->group_in * c->taps;

	msd_row_load(c->w_dtype, c->w,
		     (int64_t)(msd_conv_channel(c, stack, m) * depth + first), 1, count,
		     ret);
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

void msd_conv_line(const struct msd_conv *c, int64_t row, int64_t from, int64_t step,
		   int64_t count, double *ret)
{
	const int64_t in = c->axes[MSD_CONV_WIDTH].in;
	int64_t first = 0; /* first position inside; `end` is the limit */
	int64_t end = row < 0 ? 0 : count;

	if (from < 0)
		first = (-from + step - 1) / step;
	first = first < end ? first : end;
	if (end > 0 && from + (end - 1) * step >= in)
		end = from >= in ? first : (in - 1 - from) / step + 1;
	end = end > first ? end : first;
	for (int64_t i = 0; i < first; i++)
		ret[i] = 0;
	msd_row_load(c->dtype, c->x, row + from + first * step, step,
		     (size_t)(end - first), ret + first);
	for (int64_t i = first; c->zero != 0 && i < end; i++)
		ret[i] -= c->zero;
	for (int64_t i = end; i < count; i++)
		ret[i] = 0;
}

/* Row by row of the output. */
void msd_conv_places(const void *ctx, size_t stack, size_t k, size_t first,
		     size_t count, double *ret)
{
	const struct msd_conv *c = ctx;
	const struct msd_op_window *a = c->axes;
	const size_t plane = stack * c->group_in + k / c->taps;
	const int64_t tap = (int64_t)(k % c->taps);
	const int64_t kw = tap % a[MSD_CONV_WIDTH].kernel;
	const int64_t kh = tap / a[MSD_CONV_WIDTH].kernel % a[MSD_CONV_HEIGHT].kernel;
	const int64_t kd = tap / a[MSD_CONV_WIDTH].kernel / a[MSD_CONV_HEIGHT].kernel;
	int64_t o[MSD_OP_AXES];

	for (size_t i = 0; i < count;) {
		msd_conv_place(c, first + i, o);
		const int64_t left = a[MSD_CONV_WIDTH].out - o[MSD_CONV_WIDTH];
		const int64_t n =
			left < (int64_t)(count - i) ? left : (int64_t)(count - i);
		const int64_t id = o[MSD_CONV_DEPTH] * a[MSD_CONV_DEPTH].stride -
				   a[MSD_CONV_DEPTH].before +
				   kd * a[MSD_CONV_DEPTH].dilation;
		const int64_t ih = o[MSD_CONV_HEIGHT] * a[MSD_CONV_HEIGHT].stride -
				   a[MSD_CONV_HEIGHT].before +
				   kh * a[MSD_CONV_HEIGHT].dilation;
		const bool is_inside = id >= 0 && id < a[MSD_CONV_DEPTH].in &&
				       ih >= 0 && ih < a[MSD_CONV_HEIGHT].in;
		const int64_t row =
			(int64_t)(plane * c->in_plane) +
			(id * a[MSD_CONV_HEIGHT].in + ih) * a[MSD_CONV_WIDTH].in;

		msd_conv_line(c, is_inside ? row : -1,
			      o[MSD_CONV_WIDTH] * a[MSD_CONV_WIDTH].stride -
				      a[MSD_CONV_WIDTH].before +
				      kw * a[MSD_CONV_WIDTH].dilation,
			      a[MSD_CONV_WIDTH].stride, n, ret + i);
		i += (size_t)n;
	}
}

void msd_conv_bias(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		   double *ret)
{
	const struct msd_conv *c = ctx;

	(void)first;
	msd_row_load(c->dtype, c->bias, (int64_t)msd_conv_channel(c, stack, m), 0,
		     count, ret);
}

void msd_conv_put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *sums)
{
	const struct msd_conv *c = ctx;

	msd_row_store(c->dtype, c->y, (stack * c->group_out + m) * c->out_plane + first,
		      count, sums);
}

struct msd_product msd_conv_product(const struct msd_kernel_call *call,
				    const struct msd_conv *c)
{
	return (struct msd_product){
		.n_stacks = (size_t)msd_kernel_out_dims(call, 0)[0] * c->n_groups,
		.m = c->group_out,
		.n = c->out_plane,
		.k = c->group_in * c->taps,
		.a = msd_conv_kernels,
		.b = msd_conv_places,
		.begin = c->bias != NULL ? msd_conv_bias : NULL,
		.end = msd_conv_put,
		.ctx = c,
	};
}
