/* Normalisation of features: Scaler and Normalizer. */
#include <math.h>
#include <string.h>

#include "graph/op/ml/params.h"
#include "runtime/kernel/kernels.h"

static msd_err run_scaler(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[ndim - 1];
	const struct msd_params_scaler p = msd_params_scaler(c->node);

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const size_t k = p.scale.n == 1 ? 0 : i % features;

		msd_kernel_put(c, 0, i,
			       (msd_kernel_get(c, 0, i) - (double)p.offset.at[k]) *
				       (double)p.scale.at[k]);
	}
	return MSD_OK;
}

enum norm { MAX, L1, L2 };

/* The divisor of a row's numbers. */
static double length_of(const struct msd_kernel_call *c, size_t first, size_t n,
			enum norm norm)
{
	double ret = norm == MAX ? -INFINITY : 0;

	for (size_t i = first; i < first + n; i++) {
		const double v = msd_kernel_get(c, 0, i);

		if (norm == MAX) {
			ret = v > ret ? v : ret;
		} else {
			ret += norm == L1 ? fabs(v) : v * v;
		}
	}
	return norm == L2 ? sqrt(ret) : ret;
}

/* A row of length 0 stays unchanged. */
static msd_err run_normalizer(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const char *said = msd_params_normalizer(c->node).norm;
	const enum norm norm = strcmp(said, "MAX") == 0  ? MAX
			       : strcmp(said, "L1") == 0 ? L1
							 : L2;
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t n = (size_t)msd_kernel_in_dims(c, 0)[ndim - 1];
	const size_t all = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t first = 0; first < all; first += n) {
		const double length = length_of(c, first, n, norm);

		for (size_t i = first; i < first + n; i++) {
			const double v = msd_kernel_get(c, 0, i);

			msd_kernel_put(c, 0, i, length != 0 ? v / length : v);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_scaler = {"Scaler", run_scaler, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_normalizer = {"Normalizer", run_normalizer,
						 MSD_TAKES_NUMBERS};
