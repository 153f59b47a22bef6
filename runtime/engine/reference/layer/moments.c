#include "runtime/engine/reference/layer/moments.h"

#include <math.h>

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void square(double *v, size_t n, double mean)
{
	for (size_t i = 0; i < n; i++) {
		const double from_mean = v[i] - mean;

		v[i] = from_mean * from_mean;
	}
}

void msd_moments_find(struct msd_dtype dtype, const void *x, size_t first,
		      size_t n_rows, size_t n, double eps, struct msd_moments *ret)
{
	double sums[MSD_FOLD_ROWS] = {0};
	double squares[MSD_FOLD_ROWS] = {0};
	struct msd_fold_block b;

	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t at = 0; at < n; at += MSD_ROW_BLOCK) {
			const size_t count = least(n - at, MSD_ROW_BLOCK);

			for (size_t r = 0; r < n_rows; r++) {
				msd_row_load(dtype, x, (int64_t)(first + r * n + at), 1,
					     count, b.v[r]);
				if (pass == 1)
					square(b.v[r], count, ret->mean[r]);
			}
			msd_fold_add(&b, n_rows, count, pass == 0 ? sums : squares);
		}
		for (size_t r = 0; r < n_rows; r++) {
			ret->mean[r] = sums[r] / (double)n;
			ret->inverse[r] = 1 / sqrt(squares[r] / (double)n + eps);
		}
	}
}

void msd_moments_apply(struct msd_dtype dtype, const void *x, void *y, size_t first,
		       size_t n, const struct msd_moments_terms *terms)
{
	const struct msd_moments_terms t = *terms;
	double v[MSD_ROW_BLOCK];

	for (size_t count; n > 0; first += count, n -= count) {
		count = least(n, MSD_ROW_BLOCK);
		msd_row_load(dtype, x, (int64_t)first, 1, count, v);
		for (size_t i = 0; i < count; i++)
			v[i] = (v[i] - t.mean) * t.inverse * t.scale + t.bias;
		msd_row_store(dtype, y, first, count, v);
	}
}
