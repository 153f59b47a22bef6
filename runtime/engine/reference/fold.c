#include "runtime/engine/reference/fold.h"

#include <math.h>
#include <string.h>

static inline double f_add(double sum, double v)
{
	return sum + v;
}

static inline double f_multiply(double product, double v)
{
	return product * v;
}

static inline double f_most(double most, double v)
{
	return v > most || isnan(v) ? v : most;
}

static inline double f_least(double least, double v)
{
	return v < least || isnan(v) ? v : least;
}

/* The number of rows of @name_rows is a constant, so that results stay in registers. */
#define FOLD(name)                                                                     \
	static inline __attribute__((always_inline)) void name##_rows(                 \
		const struct msd_fold_block *b, size_t first, const size_t n_rows,     \
		size_t n, double *ret)                                                 \
	{                                                                              \
		double y[MSD_FOLD_ROWS];                                               \
                                                                                       \
		memcpy(y, ret + first, n_rows * sizeof(*y));                           \
		for (size_t i = 0; i < n; i++) {                                       \
			for (size_t r = 0; r < n_rows; r++)                            \
				y[r] = f_##name(y[r], b->v[first + r][i]);             \
		}                                                                      \
		memcpy(ret + first, y, n_rows * sizeof(*y));                           \
	}                                                                              \
                                                                                       \
	void msd_fold_##name(const struct msd_fold_block *b, size_t n_rows, size_t n,  \
			     double *ret)                                              \
	{                                                                              \
		size_t r = 0;                                                          \
                                                                                       \
		for (; r + 8 <= n_rows; r += 8)                                        \
			name##_rows(b, r, 8, n, ret);                                  \
		for (; r + 4 <= n_rows; r += 4)                                        \
			name##_rows(b, r, 4, n, ret);                                  \
		for (; r < n_rows; r++)                                                \
			name##_rows(b, r, 1, n, ret);                                  \
	}
FOLD(add)
FOLD(multiply)
FOLD(most)
FOLD(least)
