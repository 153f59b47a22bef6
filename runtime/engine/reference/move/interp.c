/* Interp: nearest, bilinear between centres, bilinear between corners. */
#include "graph/op/move/params.h"
#include "runtime/kernel/kernels.h"

enum type { NEAREST = 1, CENTRES = 2, CORNERS = 4 };

/* Two input positions and the weight of the second. */
struct between {
	int64_t low;
	int64_t high;
	double part;
};

static struct between place(int64_t type, int64_t o, int64_t in, int64_t out)
{
	double at;
	struct between b = {0};

	if (type == NEAREST) {
		b.low = b.high = o * in / out;
		return b;
	}
	if (type == CORNERS) {
		at = out > 1 ? (double)o * (double)(in - 1) / (double)(out - 1) : 0;
	} else {
		at = ((double)o + 0.5) * (double)in / (double)out - 0.5;
	}
	at = at < 0 ? 0 : at;
	b.low = (int64_t)at;
	b.low = b.low > in - 1 ? in - 1 : b.low;
	b.high = b.low + 1 < in ? b.low + 1 : b.low;
	b.part = at - (double)b.low;
	return b;
}

static double mix(double low, double high, double part)
{
	return low + (high - low) * part;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const int64_t type = msd_params_interp(c->node).resize_type;
	float *y = msd_kernel_out(c, 0);

	(void)d;
	for (int64_t p = 0; p < out[0] * out[1]; p++) {
		const float *x = msd_kernel_in(c, 0) + p * in[2] * in[3];

		for (int64_t oh = 0; oh < out[2]; oh++) {
			const struct between h = place(type, oh, in[2], out[2]);

			for (int64_t ow = 0; ow < out[3]; ow++) {
				const struct between w = place(type, ow, in[3], out[3]);
				const float *low = x + h.low * in[3];
				const float *high = x + h.high * in[3];

				*y++ = (float)mix(mix((double)low[w.low],
						      (double)low[w.high], w.part),
						  mix((double)high[w.low],
						      (double)high[w.high], w.part),
						  h.part);
			}
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_interp = {"Interp", run, MSD_TAKES_FLOAT32};
