#include "runtime/kernel/row.h"

void msd_row_load(struct msd_dtype dtype, const void *p, int64_t first, int64_t step,
		  size_t n, double *ret)
{
	const float *x = p;

	if (!msd_row_is_single(dtype)) {
		for (size_t i = 0; i < n; i++) {
			ret[i] = msd_row_at(dtype, p,
					    (size_t)(first + (int64_t)i * step));
		}
	} else if (step ==
		   1) { /* a separate loop, so that the compiler vectorises it */
		for (size_t i = 0; i < n; i++)
			ret[i] = (double)x[first + (int64_t)i];
	} else {
		for (size_t i = 0; i < n; i++)
			ret[i] = (double)x[first + (int64_t)i * step];
	}
}

void msd_row_store(struct msd_dtype dtype, void *p, size_t first, size_t n,
		   const double *from)
{
	for (size_t i = 0; i < n; i++)
		msd_row_put(dtype, p, first + i, from[i]);
}
