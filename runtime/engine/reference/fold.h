#ifndef MSD_RUNTIME_ENGINE_REFERENCE_FOLD_H
#define MSD_RUNTIME_ENGINE_REFERENCE_FOLD_H
/*
 * Folds of rows, each in the order of its elements. An addition waits for the one
 * before it, so several rows are folded at once.
 */
#include <stddef.h>

#include "runtime/kernel/row.h"

enum { MSD_FOLD_ROWS = 8 };

/* A few elements more than a block: rows of 2 KiB would map to the same cache sets. */
struct msd_fold_block {
	double v[MSD_FOLD_ROWS][MSD_ROW_BLOCK + 8];
};

/** Add the first @n elements of @n_rows rows, at most MSD_FOLD_ROWS, to @sums. */
void msd_fold_add(const struct msd_fold_block *b, size_t n_rows, size_t n,
		  double *sums);
void msd_fold_multiply(const struct msd_fold_block *b, size_t n_rows, size_t n,
		       double *products);
/** The largest or smallest element; NaN if one is NaN. */
void msd_fold_most(const struct msd_fold_block *b, size_t n_rows, size_t n,
		   double *most);
void msd_fold_least(const struct msd_fold_block *b, size_t n_rows, size_t n,
		    double *least);

#endif
