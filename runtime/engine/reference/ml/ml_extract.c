/* ArrayFeatureExtractor. */
#include <string.h>

#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_in_elements(c, 1);
	const size_t size = msd_kernel_size(c);
	const int64_t features = msd_kernel_in_dims(c, 0)[msd_kernel_in_ndim(c, 0) - 1];
	const uint8_t *in = c->in[0];
	uint8_t *out = c->out[0];

	for (size_t k = 0; k < msd_kernel_out_elements(c, 0); k++) {
		int64_t at;
		const msd_err err =
			msd_kernel_index(c, 1, (int64_t)(k % n), features, &at, d);

		if (err != MSD_OK)
			return err;
		memcpy(out + k * size,
		       in + (k / n * (size_t)features + (size_t)at) * size, size);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_extract_features = {"ArrayFeatureExtractor", run,
						       MSD_TAKES_BYTES};
