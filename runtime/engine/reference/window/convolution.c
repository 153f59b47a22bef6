/*
 * Convolution as a product for each group of each image: the kernels, one output
 * channel per row, times the input elements of their taps, one output position per
 * column.
 */
#include "graph/op/window/params.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/kernels.h"

struct convolution {
	struct msd_conv c; /* first member: the context of the product */
	int64_t activation;
	const double *terms; /* one factor per channel, then addends; NULL: none */
};

static double activate(double v, int64_t activation)
{
	if (activation == 0)
		return v < 0 ? 0 : v; /* NaN stays */
	if (activation == 1)
		return v < -1 ? -1 : v > 1 ? 1 : v;
	if (activation == 6)
		return v < 0 ? 0 : v > 6 ? 6 : v;
	return v;
}

static void scale(const struct convolution *all, size_t channel, size_t count,
		  double *sums)
{
	const double factor = all->terms[channel];
	const double addend = all->terms[all->c.channels + channel];

	for (size_t i = 0; i < count; i++)
		sums[i] = sums[i] * factor + addend;
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct convolution *all = ctx;
	const struct msd_conv *c = &all->c;

	if (all->terms != NULL)
		scale(all, msd_conv_channel(c, stack, m), count, sums);
	for (size_t i = 0; i < count; i++)
		sums[i] = activate(sums[i], all->activation);
	msd_conv_put(c, stack, m, first, count, sums);
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	struct convolution all = {
		.activation = msd_params_convolution(call->node).activation,
		.terms = msd_kernel_has(call, 3) ? call->in[3] : NULL,
	};
	struct msd_conv *c = &all.c;

	(void)d;
	msd_op_conv_windows(call->node, c->axes);
	msd_conv_operands(call, msd_params_convolution(call->node).group, c);
	c->bias = msd_kernel_has(call, 2) ? call->in[2] : NULL;
	struct msd_product product = msd_conv_product(call, c);
	product.end = put;
	msd_conv_run(c, &product);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_convolution = {"Convolution", run,
						  MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_scaled_convolution = {"ScaledConvolution", run,
							 MSD_TAKES_FLOATS_ALONE};
