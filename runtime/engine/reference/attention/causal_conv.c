/* CausalConvWithState. */
#include <math.h>
#include <string.h>

#include "graph/op/attention/params.h"
#include "runtime/kernel/kernels.h"

struct causal {
	const struct msd_kernel_call *c;
	size_t channels, length, taps;
	bool is_swish;
};

/* Element @i of channel @at of the past state and the input; without a state the past
 * is 0. */
static double element(const struct causal *k, size_t at, size_t i)
{
	const size_t past = k->taps - 1;

	if (i >= past)
		return msd_kernel_get(k->c, 0, at * k->length + i - past);
	return msd_kernel_has(k->c, 3) ? msd_kernel_get(k->c, 3, at * past + i) : 0;
}

static void run_channel(const void *ctx, size_t at)
{
	const struct causal *k = ctx;
	const size_t channel = at % k->channels;
	const size_t past = k->taps - 1;

	for (size_t i = 0; i < k->length; i++) {
		double sum =
			msd_kernel_has(k->c, 2) ? msd_kernel_get(k->c, 2, channel) : 0;

		for (size_t t = 0; t < k->taps; t++) {
			sum += element(k, at, i + t) *
			       msd_kernel_get(k->c, 1, channel * k->taps + t);
		}
		msd_kernel_put(k->c, 0, at * k->length + i,
			       k->is_swish ? sum / (1 + exp(-sum)) : sum);
	}
	for (size_t i = 0; modser_sg_node_output(k->c->node, 1) != NULL && i < past;
	     i++)
		msd_kernel_put(k->c, 1, at * past + i, element(k, at, k->length + i));
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const struct causal k = {
		.c = c,
		.channels = (size_t)dims[1],
		.length = (size_t)dims[2],
		.taps = (size_t)msd_kernel_in_dims(c, 1)[2],
		.is_swish =
			strcmp(msd_params_causal_conv(c->node).activation, "none") != 0,
	};

	(void)d;
	msd_kernel_each((size_t)dims[0] * k.channels, 8 * k.length * k.taps,
			run_channel, &k);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_causal_conv = {"CausalConvWithState", run,
						  MSD_TAKES_FLOATS_ALONE};
