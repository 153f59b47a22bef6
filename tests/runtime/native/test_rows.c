/* Sums, normalizations and softmax of rows: right, and with the same bits on each
 * level with fused multiply-add. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/levels.h"

static const size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 47, 48, 49, 70, 1023, 5000};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]), MOST = 5000 };

static double start_of(enum msd_native_reduce kind)
{
	return kind == MSD_NATIVE_HIGHEST  ? -INFINITY
	       : kind == MSD_NATIVE_LOWEST ? INFINITY
					   : 0;
}

static double joined(enum msd_native_reduce kind, double y, double v)
{
	if (kind == MSD_NATIVE_HIGHEST)
		return v > y ? v : y;
	if (kind == MSD_NATIVE_LOWEST)
		return v < y ? v : y;
	if (kind == MSD_NATIVE_SQUARES)
		return y + v * v;
	return y + (kind == MSD_NATIVE_SUM ? v : fabs(v));
}

static double sum_of(enum msd_native_reduce kind, const float *x, size_t n)
{
	double y = start_of(kind);

	for (size_t i = 0; i < n; i++)
		y = joined(kind, y, (double)x[i]);
	return y;
}

Test(native_rows, reduce)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(MOST, 8);

	for (size_t i = 0; i < N_SIZES * 5; i++) {
		const enum msd_native_reduce kind = (enum msd_native_reduce)(i % 5);
		const size_t n = sizes[i / 5];
		const double want = sum_of(kind, x, n);
		const double first = levels[0]->reduce(kind, x, n);

		for (size_t k = 0; k < n_levels; k++) {
			const double is = levels[k]->reduce(kind, x, n);

			cr_expect(fabs(is - want) <= 1e-6 * (double)n + 1e-7,
				  "%s kind %d of %zu: %g, not %g", levels[k]->name,
				  (int)kind, n, is, want);
			cr_expect(!levels_is_fused(levels[k]) || is == first,
				  "%s kind %d of %zu: other bits", levels[k]->name,
				  (int)kind, n);
		}
	}
	free(x);
}

Test(native_rows, reduce_columns)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(11 * 70, 9);

	for (size_t i = 0; i < 12 * 5 * n_levels; i++) {
		const enum msd_native_reduce kind = (enum msd_native_reduce)(i % 5);
		const size_t inner = sizes[i / 5 % 12];
		float y[71];
		float first[71];

		y[inner] = 7;
		levels[i / 60]->reduce_columns(kind, x, 11, inner, y);
		cr_expect_eq(y[inner], 7);
		levels[0]->reduce_columns(kind, x, 11, inner, first);
		cr_expect(!levels_is_fused(levels[i / 60]) ||
			  memcmp(y, first, inner * sizeof(*y)) == 0);
		for (size_t c = 0; c < inner; c++) {
			float column[11];

			for (size_t r = 0; r < 11; r++)
				column[r] = x[r * inner + c];
			cr_expect(fabs((double)y[c] - sum_of(kind, column, 11)) < 1e-5);
		}
	}
	free(x);
}

/* The last columns are some lanes of a vector. */
Test(native_rows, columns_have_equal_bits_on_fused_levels)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers((size_t)11 * 70, 9);

	for (size_t i = 0; i < (size_t)5 * 70; i++) {
		const enum msd_native_reduce kind = (enum msd_native_reduce)(i % 5);
		const size_t inner = i / 5 + 1;
		float first[70];

		levels[0]->reduce_columns(kind, x, 11, inner, first);
		for (size_t k = 1; k < n_levels; k++) {
			float y[70];

			levels[k]->reduce_columns(kind, x, 11, inner, y);
			cr_expect(!levels_is_fused(levels[k]) ||
					  memcmp(first, y, inner * sizeof(*y)) == 0,
				  "%s kind %d of %zu: other bits", levels[k]->name,
				  (int)kind, inner);
		}
	}
	free(x);
}

Test(native_rows, gates_have_equal_bits_on_fused_levels)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers((size_t)4 * 70, 14);
	float *start = levels_numbers(70, 15);
	float first[2][3][70];

	for (size_t i = 0; i < 70 * n_levels; i++) {
		const struct msd_native_kernels *k = levels[i % n_levels];
		const size_t n = i / n_levels + 1;
		const size_t which = i % n_levels == 0 ? 0 : 1;

		memset(first[which], 0, sizeof(first[which]));
		memcpy(first[which][0], start, n * sizeof(float));
		memcpy(first[which][2], start, n * sizeof(float));
		k->lstm(x, n, first[which][0], first[which][1]);
		k->gru(x, x + 70, n, first[which][2]);
		cr_expect(which == 0 || !levels_is_fused(k) ||
				  memcmp(first[0], first[1], sizeof(first[0])) == 0,
			  "%s of %zu: other bits", k->name, n);
	}
	free(x);
	free(start);
}

Test(native_rows, what_is_not_a_number_wins_a_maximum)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < 33 * n_levels; i++) {
		float *x = levels_numbers(33, 10);

		x[i % 33] = NAN;
		cr_expect(isnan(levels[i / 33]->reduce(MSD_NATIVE_HIGHEST, x, 33)));
		cr_expect(isnan(levels[i / 33]->reduce(MSD_NATIVE_LOWEST, x, 33)));
		free(x);
	}
}

static void expect_softmax(const struct msd_native_kernels *k, const float *x, size_t n,
			   bool is_log, const float *y)
{
	const double top = sum_of(MSD_NATIVE_HIGHEST, x, n);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += exp((double)x[i] - top);
	for (size_t i = 0; i < n; i++) {
		const double part = (double)x[i] - top;
		const double want = is_log ? part - log(sum) : exp(part) / sum;

		cr_expect(fabs((double)y[i] - want) <=
				  1e-6 * ((is_log ? 1 : 1e-3) + fabs(want)),
			  "%s of %zu: %.9g, not %.9g", k->name, n, (double)y[i], want);
	}
}

Test(native_rows, softmax)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(MOST, 11);
	static float y[MOST + 1];
	static float first[MOST + 1];

	for (size_t i = 0; i < MOST; i++)
		x[i] *= 20;
	for (size_t i = 0; i < N_SIZES * 2; i++) {
		const size_t n = sizes[i / 2];

		for (size_t k = 0; k < n_levels; k++) {
			y[n] = 7;
			levels[k]->softmax(x, n, i % 2 != 0, y);
			expect_softmax(levels[k], x, n, i % 2 != 0, y);
			cr_expect_eq(y[n], 7);
			if (k == 0)
				memcpy(first, y, n * sizeof(*y));
			cr_expect(!levels_is_fused(levels[k]) ||
					  memcmp(first, y, n * sizeof(*y)) == 0,
				  "%s of %zu: other bits", levels[k]->name, n);
		}
	}
	free(x);
}

static void expect_norm(const struct msd_native_kernels *k, const float *x,
			const float *scale, size_t n, const float *y)
{
	const double mean = sum_of(MSD_NATIVE_SUM, x, n) / (double)n;
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += ((double)x[i] - mean) * ((double)x[i] - mean);
	for (size_t i = 0; i < n; i++) {
		const double want = ((double)x[i] - mean) /
					    sqrt(squares / (double)n + 1e-5) *
					    (double)scale[i] +
				    (double)scale[i + 1];

		cr_expect(fabs((double)y[i] - want) < 3e-5, "%s of %zu: %.9g, not %.9g",
			  k->name, n, (double)y[i], want);
	}
}

/* Also far from 0, where squares lose what deviations keep. */
Test(native_rows, norm)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(MOST, 12);
	float *scale = levels_numbers(MOST + 1, 13);
	static float y[MOST + 1];
	static float first[MOST + 1];

	for (size_t i = 0; i < MOST; i++)
		x[i] += 64;
	for (size_t i = 0; i < N_SIZES * n_levels; i++) {
		const size_t n = sizes[i / n_levels];
		const struct msd_native_kernels *k = levels[i % n_levels];
		const struct msd_native_norm p = {n, 1e-5f, scale, scale + 1};

		y[n] = 7;
		k->norm(&p, x, y, NULL, NULL);
		expect_norm(k, x, scale, n, y);
		cr_expect_eq(y[n], 7);
		if (i % n_levels == 0)
			memcpy(first, y, n * sizeof(*y));
		cr_expect(!levels_is_fused(k) || memcmp(first, y, n * sizeof(*y)) == 0,
			  "%s of %zu: other bits", k->name, n);
	}
	free(x);
	free(scale);
}

/* With a mask, and of one query: the same bits on each level with fused multiply-add.
 */
Test(native_rows, attention)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *mask = levels_numbers(70, 12);
	float *a = levels_numbers(70 * 70, 13);
	const struct msd_native_scores s = {
		.scale = 0.7f, .mask = mask, .mask_step = 1};

	for (size_t i = 0; i < 12 * n_levels; i++) {
		const struct msd_native_kernels *k = levels[i / 12];
		const size_t n = sizes[i % 12];
		float y[3][71];
		float want[3][71];

		for (size_t e = 0; e < 2; e++) {
			float(*to)[71] = e == 0 ? want : y;
			const struct msd_native_kernels *by = e == 0 ? levels[0] : k;

			by->dots(a, a, 70, 70, n, to[0]);
			by->mix(a, a, 70, 70, n, to[1]);
			memcpy(to[2], a, sizeof(to[2]));
			cr_expect(by->soften(&s, n, to[2]));
		}
		cr_expect(!levels_is_fused(k) ||
				  (memcmp(y[0], want[0], 70 * sizeof(float)) == 0 &&
				   memcmp(y[1], want[1], n * sizeof(float)) == 0 &&
				   memcmp(y[2], want[2], n * sizeof(float)) == 0),
			  "%s of %zu: other bits", k->name, n);
	}
	free(mask);
	free(a);
}
