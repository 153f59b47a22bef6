#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_SUMS_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_SUMS_H
/* How finished sums become elements. */
#include "runtime/engine/native/level/integers.h"

/* A vector of a row: the arrays by column have elements for all lanes. */
INLINE vec part_of(const struct msd_native_sums *s, const float *parts, size_t row,
		   size_t column)
{
	return s->by_column ? load(parts + column) : all(parts[row]);
}

INLINE void put_units(void *p, ivec v, size_t left)
{
	if (left < LANES) {
		store_some_units(p, v, left);
	} else {
		store_units(p, v);
	}
}

/* Element @column of @y and on, @left of them. */
INLINE void put_vector(const struct msd_native_sums *s, ivec sum, size_t row,
		       size_t column, size_t left, void *y)
{
	if (s->scales == NULL) {
		put_units((int32_t *)y + column, sum, left);
		return;
	}
	vec v = to_floats(sum) * part_of(s, s->scales, row, column);
	if (s->offsets != NULL)
		v = v + part_of(s, s->offsets, row, column);
	if (s->is_float) {
		v = least(most(v, all(s->rounding.low)), all(s->rounding.high));
		put_units((float *)y + column, (ivec)v, left);
	} else {
		store_some_bytes((uint8_t *)y + column, round_bytes(v, s->rounding),
				 left);
	}
}

/* A full row of bytes with a scale and an offset that are numbers. */
INLINE void put_row(const int32_t *sums, float scale, float offset,
		    const struct msd_native_rounding r, uint8_t *y)
{
#pragma GCC unroll 3
	for (size_t v = 0; v < PANEL; v += LANES) {
		const vec x =
			to_floats(load_units(sums + v)) * all(scale) + all(offset);

		store_bytes(y + v, round_limited(x, r.low, r.high) + r.zero);
	}
}

#ifdef MSD_HAS_MASKS
/* True if the limits are those of the type: packing limits, too. */
INLINE bool is_whole_type(const struct msd_native_rounding r)
{
	const float least_of = r.low + (float)r.zero;

	return (least_of == 0 || least_of == INT8_MIN) && r.high - r.low == UINT8_MAX;
}

/* True if integers hold all elements. */
INLINE bool is_small(float scale, float offset)
{
	return __builtin_fabsf(scale) < 0.25f && __builtin_fabsf(offset) < 0x1p29f;
}

INLINE __m512i rounded(const int32_t *sums, float scale, float offset,
		       const bool has_offset)
{
	const vec x = to_floats(load_units(sums)) * all(scale);

	return _mm512_cvtps_epi32((__m512)(has_offset ? x + all(offset) : x));
}

/* As put_row(), without limits. Packing mixes the lanes of 128 bits. */
INLINE void pack_row(const int32_t *sums, float scale, float offset,
		     const bool has_offset, const struct msd_native_rounding r,
		     uint8_t *y)
{
	const __m512i zero = _mm512_set1_epi16((int16_t)r.zero);
	const __m512i order =
		_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	const __m512i first = rounded(sums, scale, offset, has_offset);
	const __m512i second = rounded(sums + LANES, scale, offset, has_offset);
	const __m512i third = rounded(sums + 2 * LANES, scale, offset, has_offset);
	const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(first, second), zero);
	const __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(third, third), zero);
	const __m512i bytes = r.low + (float)r.zero < 0
				      ? _mm512_packs_epi16(low, high)
				      : _mm512_packus_epi16(low, high);

	_mm512_mask_storeu_epi32(y, 0x0fff, _mm512_permutexvar_epi32(order, bytes));
}
#else
INLINE bool is_whole_type(const struct msd_native_rounding r)
{
	(void)r;
	return false;
}

INLINE bool is_small(float scale, float offset)
{
	(void)scale;
	(void)offset;
	return false;
}

INLINE void pack_row(const int32_t *sums, float scale, float offset,
		     const bool has_offset, const struct msd_native_rounding r,
		     uint8_t *y)
{
	(void)has_offset;
	put_row(sums, scale, offset, r, y);
}
#endif

#endif
