/* Resized rows: each output is a weighted sum of elements of its row, or of rows. */
#include "runtime/engine/native/level/level.h"

/* The elements that tap @k of @n neighbouring outputs reads, at most LANES. */
INLINE vec pick_some(const float *x, const int32_t *at, const size_t taps, size_t n)
{
	float v[LANES] = {0};

	for (size_t i = 0; i < n; i++)
		v[i] = x[at[i * taps]];
	return load(v);
}

INLINE vec pick_all(const float *x, const int32_t *at, const size_t taps)
{
	vec v = {0};

#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++)
		v[i] = x[at[i * taps]];
	return v;
}

INLINE vec weights_of(const float *w, const size_t taps, size_t n)
{
	float v[LANES] = {0};

	for (size_t i = 0; i < n; i++)
		v[i] = w[i * taps];
	return load(v);
}

/* A tap without weight adds nothing, even if its element is infinite. */
INLINE vec add_weighted(vec sum, vec w, vec x)
{
	return sum + w * pick(w != all(0), x, all(0));
}

INLINE void sum_taps(const struct msd_native_taps *t, const size_t taps, const float *x,
		     size_t n, float *y)
{
	const int32_t *at = t->at;
	const float *w = t->weight;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES, at += taps * LANES, w += taps * LANES) {
		vec sum = {0};

		for (size_t k = 0; k < taps; k++) {
			sum = add_weighted(sum, weights_of(w + k, taps, LANES),
					   pick_all(x, at + k, taps));
		}
		store(y + i, sum);
	}
	if (i < n) {
		vec sum = {0};

		for (size_t k = 0; k < taps; k++) {
			sum = add_weighted(sum, weights_of(w + k, taps, n - i),
					   pick_some(x, at + k, taps, n - i));
		}
		store_some(y + i, sum, n - i);
	}
}

static void move(const int32_t *at, const float *x, size_t n, float *y)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(y + i, pick_all(x, at + i, 1));
	for (; i < n; i++)
		y[i] = x[at[i]];
}

/* Each element twice; @n outputs. */
static void put_twice(const float *restrict x, size_t n, float *restrict y)
{
	size_t i = 0;

	for (; i + 2 * LANES <= n; i += 2 * LANES)
		msd_interleave(load(x + i / 2), load(x + i / 2), y + i);
	for (; i < n; i++)
		y[i] = x[i / 2];
}

void LEVEL(resample)(const struct msd_native_taps *t, const float *x, size_t n,
		     float *y)
{
	if (t->is_moved && t->is_doubled) {
		put_twice(x, n, y);
	} else if (t->is_moved) {
		move(t->at, x, n, y);
	} else if (t->n == 2) {
		sum_taps(t, 2, x, n, y);
	} else {
		sum_taps(t, t->n, x, n, y);
	}
}

void LEVEL(weigh)(const float *const *rows, const float *weights, size_t n_rows,
		  size_t n, float *y)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		vec sum = {0};

		for (size_t k = 0; k < n_rows; k++)
			sum += all(weights[k]) * load(rows[k] + i);
		store(y + i, sum);
	}
	if (i < n) {
		vec sum = {0};

		for (size_t k = 0; k < n_rows; k++)
			sum += all(weights[k]) * load_some(rows[k] + i, n - i, 0);
		store_some(y + i, sum, n - i);
	}
}

/* Neighbouring columns stay in registers over all rows. */
INLINE void mix_columns(const float *a, const float *rows, size_t row, size_t n_rows,
			const int vectors, float *y)
{
	vec sums[4] = {{0}};

	for (size_t k = 0; k < n_rows; k++, rows += row) {
		const vec by = all(a[k]);

#pragma GCC unroll 4
		for (int v = 0; v < vectors; v++)
			sums[v] += by * load(rows + v * LANES);
	}
#pragma GCC unroll 4
	for (int v = 0; v < vectors; v++)
		store(y + v * LANES, sums[v]);
}

void LEVEL(mix)(const float *a, const float *rows, size_t row, size_t n_rows, size_t n,
		float *y)
{
	size_t i = 0;

	for (; i + (size_t)4 * LANES <= n; i += (size_t)4 * LANES)
		mix_columns(a, rows + i, row, n_rows, 4, y + i);
	for (; i + LANES <= n; i += LANES)
		mix_columns(a, rows + i, row, n_rows, 1, y + i);
	if (i < n) {
		vec sum = {0};

		for (size_t k = 0; k < n_rows; k++)
			sum += all(a[k]) * load_some(rows + k * row + i, n - i, 0);
		store_some(y + i, sum, n - i);
	}
}
