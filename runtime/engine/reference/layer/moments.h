#ifndef MSD_RUNTIME_ENGINE_REFERENCE_MOMENTS_H
#define MSD_RUNTIME_ENGINE_REFERENCE_MOMENTS_H
/* Mean and deviation of rows, for normalizations. Sums are doubles, each in the order
 * of its row. */
#include <stddef.h>

#include "proto/dtype.h"
#include "runtime/engine/reference/fold.h"

struct msd_moments {
	double mean[MSD_FOLD_ROWS];
	double inverse[MSD_FOLD_ROWS]; /* 1 / sqrt(variance + eps) */
};

/**
 * The moments of @n_rows consecutive rows of @n elements, at most MSD_FOLD_ROWS, from
 * element @first of @x on.
 */
void msd_moments_find(struct msd_dtype dtype, const void *x, size_t first,
		      size_t n_rows, size_t n, double eps, struct msd_moments *ret);
struct msd_moments_terms {
	double mean;
	double inverse;
	double scale;
	double bias;
};

/** Store @n elements of @x, normalized, scaled and with the bias, in @y. */
void msd_moments_apply(struct msd_dtype dtype, const void *x, void *y, size_t first,
		       size_t n, const struct msd_moments_terms *terms);

#endif
