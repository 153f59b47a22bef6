#include "runtime/engine/reference/recurrent/gates.h"

#include <string.h>

#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/row.h"

enum { SUMS = 8, ROWS = 4 };

/* Weights of a few rows. Rows of 2 KiB would map to the same cache sets. */
struct block {
	double w[ROWS][MSD_ROW_BLOCK + SUMS];
};

/*
 * Adds products of @rows rows, a constant, in vectors of @wide doubles, as far as whole
 * vectors reach. There is no fused multiply-add: it would change the sums.
 */
#define ADD(name, attributes, wide)                                                    \
	typedef double name##_vector __attribute__((                                   \
		vector_size((wide) * sizeof(double)), aligned(sizeof(double))));       \
                                                                                       \
	attributes static inline __attribute__((always_inline)) void name##_rows(      \
		const struct block *b, const double *x, size_t n, const size_t rows,   \
		double sums[ROWS][SUMS])                                               \
	{                                                                              \
		enum { VECTORS = SUMS / (wide) };                                      \
		name##_vector y[ROWS * VECTORS];                                       \
                                                                                       \
		for (size_t k = 0; k < rows * VECTORS; k++)                            \
			y[k] = ((const name##_vector *)sums)[k];                       \
		for (size_t i = 0; i + SUMS <= n; i += SUMS) {                         \
			const name##_vector *v = (const name##_vector *)&x[i];         \
                                                                                       \
			_Pragma("GCC unroll 16") for (size_t k = 0;                    \
						      k < rows * VECTORS; k++) y[k] += \
				((const name##_vector *)&b                             \
					 ->w[k / VECTORS][i])[k % VECTORS] *           \
				v[k % VECTORS];                                        \
		}                                                                      \
		for (size_t k = 0; k < rows * VECTORS; k++)                            \
			((name##_vector *)sums)[k] = y[k];                             \
	}                                                                              \
                                                                                       \
	attributes static void name(const struct block *b, const double *x, size_t n,  \
				    size_t rows, double sums[ROWS][SUMS])              \
	{                                                                              \
		if (rows == ROWS) {                                                    \
			name##_rows(b, x, n, ROWS, sums);                              \
		} else {                                                               \
			name##_rows(b, x, n, 1, sums);                                 \
		}                                                                      \
	}
ADD(add_any, , 2)
#if defined(__x86_64__)
ADD(add_avx2, __attribute__((target("avx2"))), 4)
#endif

static void add(const struct block *b, const double *x, size_t n, size_t rows,
		double sums[ROWS][SUMS])
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2")) {
		add_avx2(b, x, n, rows, sums);
		return;
	}
#endif
	add_any(b, x, n, rows, sums);
}

/* @rows is ROWS or 1. */
static void multiply(const struct msd_gates *g, size_t row, size_t rows)
{
	double sums[ROWS][SUMS];
	struct block b;

	memset(sums, 0, rows * sizeof(sums[0]));
	for (size_t at = 0, n; at < g->n; at += n) {
		n = g->n - at < MSD_ROW_BLOCK ? g->n - at : MSD_ROW_BLOCK;
		for (size_t r = 0; r < rows; r++) {
			msd_row_load(g->dtype, g->weights,
				     (int64_t)(g->first + (row + r) * g->n + at), 1, n,
				     b.w[r]);
		}
		add(&b, g->x + at, n, rows, sums);
		for (size_t i = n / SUMS * SUMS; i < n; i++) {
			for (size_t r = 0; r < rows; r++)
				sums[r][i % SUMS] += b.w[r][i] * g->x[at + i];
		}
	}
	for (size_t r = 0; r < rows; r++) {
		double sum = 0;

		for (size_t k = 0; k < SUMS; k++)
			sum += sums[r][k];
		g->ret[row + r] = sum;
	}
}

static void run_range(const void *ctx, size_t first, size_t count)
{
	const size_t end = first + count;

	for (; first + ROWS <= end; first += ROWS)
		multiply(ctx, first, ROWS);
	for (; first < end; first++)
		multiply(ctx, first, 1);
}

void msd_gates_multiply(const struct msd_gates *g, size_t rows)
{
	msd_ranges_each(rows, g->n / 2, run_range, g);
}
