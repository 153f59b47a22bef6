/* Operators that move elements of float32: Permute, ShuffleChannel, Crop, Upsample. */
#include <string.h>

#include "graph/op/move/crop.h"
#include "graph/op/move/params.h"
#include "runtime/kernel/kernels.h"

static msd_err run_permute(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_permute p = msd_params_permute(c->node);
	const int64_t order[] = {p.order0, p.order1, p.order2, p.order3};
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	size_t step[4]; /* strides in the input, per axis of the output */

	(void)d;
	for (size_t i = 0; i < 4; i++)
		step[i] = msd_kernel_inner(in, 4, (size_t)order[i]);
	float *y = msd_kernel_out(c, 0);
	for (size_t a = 0; a < (size_t)out[0]; a++) {
		for (size_t b = 0; b < (size_t)out[1]; b++) {
			for (size_t e = 0; e < (size_t)out[2]; e++) {
				for (size_t f = 0; f < (size_t)out[3]; f++) {
					*y++ = msd_kernel_in(
						c, 0)[a * step[0] + b * step[1] +
						      e * step[2] + f * step[3]];
				}
			}
		}
	}
	return MSD_OK;
}

/* Transpose the channels, seen as rows of @group. */
static msd_err run_shuffle(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t group = (size_t)msd_params_shuffle_channel(c->node).group;
	const size_t channels = (size_t)dims[1];
	const size_t columns = channels / group;
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);

	(void)d;
	for (size_t n = 0; n < (size_t)dims[0]; n++) {
		for (size_t k = 0; k < channels; k++) {
			const size_t to = k % columns * group + k / columns;

			memcpy(msd_kernel_out(c, 0) + (n * channels + to) * plane,
			       msd_kernel_in(c, 0) + (n * channels + k) * plane,
			       plane * sizeof(float));
		}
	}
	return MSD_OK;
}

static msd_err run_crop(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	int64_t at[4];
	float *y = msd_kernel_out(c, 0);

	(void)d;
	msd_op_crop_offsets(c->node, at);
	for (int64_t n = 0; n < out[0]; n++) {
		for (int64_t k = 0; k < out[1]; k++) {
			for (int64_t h = 0; h < out[2]; h++) {
				const int64_t row =
					((n + at[0]) * in[1] + k + at[1]) * in[2] + h +
					at[2];

				memcpy(y, msd_kernel_in(c, 0) + row * in[3] + at[3],
				       (size_t)out[3] * sizeof(float));
				y += out[3];
			}
		}
	}
	return MSD_OK;
}

static msd_err run_upsample(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const float scale = msd_params_upsample(c->node).scale;
	float *y = msd_kernel_out(c, 0);

	(void)d;
	for (int64_t p = 0; p < out[0] * out[1]; p++) {
		for (int64_t h = 0; h < out[2]; h++) {
			for (int64_t w = 0; w < out[3]; w++) {
				const int64_t ih = (int64_t)((float)h / scale);
				const int64_t iw = (int64_t)((float)w / scale);

				*y++ = msd_kernel_in(c,
						     0)[(p * in[2] + ih) * in[3] + iw];
			}
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_permute = {"Permute", run_permute,
					      MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_shuffle_channel = {"ShuffleChannel", run_shuffle,
						      MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_crop = {"Crop", run_crop, MSD_TAKES_FLOAT32};
const struct msd_kernel msd_kernel_upsample = {"Upsample", run_upsample,
					       MSD_TAKES_FLOAT32};
