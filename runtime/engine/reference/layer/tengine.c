/* Layers that Tengine alone has: Normalize, MVN, L2Normalization, ReduceL2, Embedding.
 */
#include <math.h>

#include "graph/op/layer/params.h"
#include "runtime/kernel/kernels.h"

static double square_sum(const struct msd_kernel_call *c, size_t at, size_t n,
			 size_t step)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const double x = msd_kernel_get(c, 0, at + i * step);

		sum += x * x;
	}
	return sum;
}

/* Divide by the length over the channels, or over all, and scale. */
static msd_err run_normalize(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_normalize p = msd_params_normalize(c->node);
	static const double least = 1e-10; /* Caffe's, for zeros */
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t channels = (size_t)dims[1];
	const size_t image = channels * plane;
	const bool is_whole = p.across_spatial != 0;
	const bool is_shared = p.channel_shared != 0;

	(void)d;
	for (size_t at = 0; at < (size_t)dims[0] * image; at += image) {
		for (size_t i = 0; i < plane; i++) {
			const double sum =
				is_whole ? square_sum(c, at, image, 1)
					 : square_sum(c, at + i, channels, plane);
			const double length = sqrt(sum + least);

			for (size_t k = 0; k < channels; k++) {
				const size_t e = at + k * plane + i;
				const size_t s = is_shared ? 0 : k;
				const double by = msd_kernel_has(c, 1)
							  ? msd_kernel_get(c, 1, s)
							  : 1;

				msd_kernel_put(c, 0, e,
					       msd_kernel_get(c, 0, e) / length * by);
			}
		}
	}
	return MSD_OK;
}

/* Without the mean, of one channel or of all, and divided by the deviation; Caffe adds
 * eps to the deviation. */
static msd_err run_mvn(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_mvn p = msd_params_mvn(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const bool is_whole = p.across_channels != 0;
	const size_t n = is_whole ? plane * (size_t)dims[1] : plane;
	const bool divides = p.normalize_variance != 0;
	const double eps = (double)p.eps;

	(void)d;
	for (size_t at = 0; at < msd_kernel_out_elements(c, 0); at += n) {
		double mean = 0;
		double variance = 0;

		for (size_t i = 0; i < n; i++)
			mean += msd_kernel_get(c, 0, at + i) / (double)n;
		for (size_t i = 0; i < n; i++) {
			const double x = msd_kernel_get(c, 0, at + i) - mean;

			variance += x * x / (double)n;
		}
		const double by = divides ? sqrt(variance) + eps : 1;
		for (size_t i = 0; i < n; i++) {
			msd_kernel_put(c, 0, at + i,
				       (msd_kernel_get(c, 0, at + i) - mean) / by);
		}
	}
	return MSD_OK;
}

static msd_err run_l2_normalization(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = (size_t)msd_kernel_in_dims(c, 0)[1];

	(void)d;
	for (size_t at = 0; at < msd_kernel_out_elements(c, 0); at += n) {
		const double length = sqrt(square_sum(c, at, n, 1));

		for (size_t i = 0; i < n; i++) {
			msd_kernel_put(c, 0, at + i,
				       msd_kernel_get(c, 0, at + i) / length);
		}
	}
	return MSD_OK;
}

static msd_err run_reduce_l2(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n_out = msd_kernel_out_elements(c, 0);
	const size_t n = n_out > 0 ? msd_kernel_in_elements(c, 0) / n_out : 0;

	(void)d;
	for (size_t i = 0; i < n_out; i++)
		msd_kernel_put(c, 0, i, sqrt(square_sum(c, i * n, n, 1)));
	return MSD_OK;
}

/* Numbers outside the matrix are those of its first and last row. */
static msd_err run_embedding(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const double rows = (double)msd_kernel_in_dims(c, 1)[0];
	const size_t n = (size_t)msd_kernel_in_dims(c, 1)[1];

	(void)d;
	for (size_t i = 0; i < msd_kernel_in_elements(c, 0); i++) {
		const double said = msd_kernel_get(c, 0, i);
		const double within = said >= rows ? rows - 1 : said;
		const size_t row = within > 0 ? (size_t)within : 0;

		for (size_t k = 0; k < n; k++) {
			const double more =
				msd_kernel_has(c, 2) ? msd_kernel_get(c, 2, k) : 0;

			msd_kernel_put(c, 0, i * n + k,
				       msd_kernel_get(c, 1, row * n + k) + more);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_normalize = {"Normalize", run_normalize,
						MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_mvn = {"MVN", run_mvn, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_l2_normalization = {
	"L2Normalization", run_l2_normalization, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_reduce_l2 = {"ReduceL2", run_reduce_l2,
						MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_embedding = {"Embedding", run_embedding,
						MSD_TAKES_NUMBERS};
