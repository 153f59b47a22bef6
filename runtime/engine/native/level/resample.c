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

/* Elements @k, @taps + @k, 2 * @taps + @k, ...; no other is read beyond the last. */
#if defined(__AVX512F__) && MSD_LANES == 16
INLINE __m512i every(const void *p, const size_t taps, size_t k)
{
	const __m512i places = _mm512_add_epi32(
		_mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
						     11, 12, 13, 14, 15),
				   _mm512_set1_epi32((int)taps)),
		_mm512_set1_epi32((int)k));

	if (taps == 1)
		return _mm512_loadu_si512(p);
	if (taps == 2) {
		return _mm512_permutex2var_epi32(
			_mm512_loadu_si512(p), places,
			_mm512_loadu_si512((const int32_t *)p + LANES));
	}
	return _mm512_i32gather_epi32(places, p, 4);
}

INLINE vec pick_all(const float *x, const int32_t *at, const size_t taps, size_t k)
{
	return (vec)_mm512_i32gather_ps(every(at, taps, k), x, 4);
}

INLINE vec weights_of(const float *w, const size_t taps, size_t k)
{
	return (vec)every(w, taps, k);
}
#else
INLINE vec pick_all(const float *x, const int32_t *at, const size_t taps, size_t k)
{
	vec v = {0};

#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++)
		v[i] = x[at[i * taps + k]];
	return v;
}

INLINE vec weights_of(const float *w, const size_t taps, size_t k)
{
	vec v = {0};

#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++)
		v[i] = w[i * taps + k];
	return v;
}
#endif

INLINE vec some_weights(const float *w, const size_t taps, size_t n)
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
			sum = add_weighted(sum, weights_of(w, taps, k),
					   pick_all(x, at, taps, k));
		}
		store(y + i, sum);
	}
	if (i < n) {
		vec sum = {0};

		for (size_t k = 0; k < taps; k++) {
			sum = add_weighted(sum, some_weights(w + k, taps, n - i),
					   pick_some(x, at + k, taps, n - i));
		}
		store_some(y + i, sum, n - i);
	}
}

static void move(const int32_t *at, const float *x, size_t n, float *y)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		store(y + i, pick_all(x, at + i, 1, 0));
	for (; i < n; i++)
		y[i] = x[at[i]];
}

/* Each element twice; @n outputs. */
static void put_twice(const float *restrict x, size_t n, float *restrict y)
{
	for (size_t i = 0; i < n; i += 2 * LANES) {
		const size_t left = n - i;

		if (left >= 2 * LANES) {
			const vec v = load(x + i / 2);

			msd_interleave(v, v, y + i);
		} else {
			const vec v = load_some(x + i / 2, (left + 1) / 2, 0);
			float at[2 * LANES];

			msd_interleave(v, v, at);
			store_some(y + i, load(at), left < LANES ? left : LANES);
			if (left > LANES) {
				store_some(y + i + LANES, load(at + LANES),
					   left - LANES);
			}
		}
	}
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
			sum = msd_fused(all(weights[k]), load(rows[k] + i), sum);
		store(y + i, sum);
	}
	if (i < n) {
		vec sum = {0};

		for (size_t k = 0; k < n_rows; k++) {
			sum = msd_fused(all(weights[k]),
					load_some(rows[k] + i, n - i, 0), sum);
		}
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
			sums[v] = msd_fused(by, load(rows + v * LANES), sums[v]);
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

		for (size_t k = 0; k < n_rows; k++) {
			sum = msd_fused(all(a[k]),
					load_some(rows + k * row + i, n - i, 0), sum);
		}
		store_some(y + i, sum, n - i);
	}
}
