/* Convolutions of integers: ConvInteger and QLinearConv. The sums are doubles, which
 * represent them exactly. */
#include "graph/op/quantized/params.h"
#include "runtime/engine/reference/quantized/quantize.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

struct integers {
	struct msd_conv c; /* first member: the context of the product */
	const struct msd_kernel_call *call;
	size_t w_zero;
	bool is_scaled;
};

static void get_kernels(const void *ctx, size_t stack, size_t m, size_t first,
			size_t count, double *ret)
{
	const struct integers *all = ctx;
	const double zero = msd_quantized_part(all->call, all->w_zero,
					       msd_conv_channel(&all->c, stack, m), 0);

	msd_conv_kernels(ctx, stack, m, first, count, ret);
	for (size_t i = 0; i < count; i++)
		ret[i] -= zero;
}

static void get_bias(const void *ctx, size_t stack, size_t m, size_t first,
		     size_t count, double *ret)
{
	const struct integers *all = ctx;
	const double bias =
		msd_kernel_get(all->call, 8, msd_conv_channel(&all->c, stack, m));

	(void)first;
	for (size_t i = 0; i < count; i++)
		ret[i] = bias;
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct integers *all = ctx;
	const struct msd_conv *c = &all->c;
	const size_t channel = msd_conv_channel(&all->c, stack, m);

	if (all->is_scaled)
		msd_requantize(all->call, 0, channel, 0, count, sums);
	msd_row_store(msd_kernel_out_dtype(all->call, 0), c->y,
		      (stack * c->group_out + m) * c->out_plane + first, count, sums);
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const size_t weights = msd_op_conv_weights(call->node);
	struct integers all = {
		.call = call,
		.w_zero = weights == 3 ? 5 : 3,
		.is_scaled = weights == 3,
	};
	struct msd_conv *c = &all.c;

	(void)d;
	msd_op_conv_windows(call->node, c->axes);
	msd_conv_operands(call, msd_params_conv_integer(call->node).group, c);
	c->zero = msd_quantized_part(call, 2, 0, 0);
	struct msd_product product = msd_conv_product(call, c);
	product.a = get_kernels;
	product.begin = msd_kernel_has(call, 8) ? get_bias : NULL;
	product.end = put;
	msd_conv_run(c, &product);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_conv_integer = {"ConvInteger", run,
						   MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_q_linear_conv = {"QLinearConv", run,
						    MSD_TAKES_NUMBERS};
