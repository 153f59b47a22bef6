#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_INTEGERS_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_INTEGERS_H
/* Vectors of integers, and how sums become bytes. */
#include "runtime/engine/native/integers.h"
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

typedef uint8_t bvec __attribute__((vector_size(MSD_LANES)));
typedef uint8_t bvec_at __attribute__((vector_size(MSD_LANES), aligned(1), may_alias));
typedef int32_t ivec_at
	__attribute__((vector_size(MSD_LANES * 4), aligned(4), may_alias));
typedef int32_t unit_at __attribute__((may_alias));
typedef int16_t int16_t_at __attribute__((may_alias));
typedef int16_t svec __attribute__((vector_size(MSD_LANES * 2)));
typedef int16_t svec_at
	__attribute__((vector_size(MSD_LANES * 2), aligned(2), may_alias));

#define MSD_DECLARE_INTEGER(field)                                                     \
	extern __typeof__(*((struct msd_native_integer_kernels *)0)->field) LEVEL(     \
		integer_##field)

#if defined(__AVX512BW__) && defined(__AVX512VL__) && MSD_LANES == 16
#define MSD_HAS_MASKS /* loads and stores of some lanes */
#if defined(__AVX512VNNI__)
#define MSD_HAS_QUADS
#endif
#endif

MSD_DECLARE_INTEGER(scratch);
MSD_DECLARE_INTEGER(depthwise_units);
MSD_DECLARE_INTEGER(depthwise_scratch);
MSD_DECLARE_INTEGER(depthwise);
MSD_DECLARE_INTEGER(put);
MSD_DECLARE_INTEGER(quantize);
MSD_DECLARE_INTEGER(dequantize);
MSD_DECLARE_INTEGER(binary);
MSD_DECLARE_INTEGER(table);
MSD_DECLARE_INTEGER(range);
extern __typeof__(*((struct msd_native_units *)0)->product) LEVEL(integer_product),
	LEVEL(integer_quad_product);
/* Offsets of the taps in a plane of units; those beyond the table are computed again
 * each time. */
struct unit_taps {
	size_t n;
	size_t at[MSD_NATIVE_TAPS];
};
extern void LEVEL(integer_fill_taps)(const struct msd_native_window *w,
				     struct unit_taps *ret);
/* @k rows of columns @n0 .. @n0 + @n - 1 become a panel. */
extern void LEVEL(integer_bring)(const struct msd_native_window *w, size_t k,
				 const struct unit_taps *t, size_t n0, size_t n,
				 float *ret);
extern const struct msd_native_units LEVEL(integer_pairs), LEVEL(integer_quads);
extern const struct msd_native_integer_kernels LEVEL(integers);

INLINE ivec load_units(const void *p)
{
	return *(const ivec_at *)p;
}

INLINE void store_units(void *p, ivec v)
{
	*(ivec_at *)p = v;
}

INLINE ivec all_units(int32_t v)
{
	return v - (ivec){0};
}

INLINE vec to_floats(ivec v)
{
	return __builtin_convertvector(v, vec);
}

/* LANES bytes as integers. */
INLINE ivec load_bytes(const uint8_t *p)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (ivec)_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p));
#elif defined(__AVX2__) && MSD_LANES == 8
	return (ivec)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p));
#else
	return __builtin_convertvector(*(const bvec_at *)p, ivec);
#endif
}

INLINE svec load_shorts(const uint8_t *p)
{
#if defined(__AVX512BW__) && MSD_LANES == 16
	return (svec)_mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)p));
#elif defined(__AVX2__) && MSD_LANES == 8
	return (svec)_mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)p));
#else
	return __builtin_convertvector(*(const bvec_at *)p, svec);
#endif
}

/* The first @n lanes; the others are 0. */
INLINE ivec load_some_bytes(const uint8_t *p, size_t n)
{
	if (n >= LANES)
		return load_bytes(p);
#ifdef MSD_HAS_MASKS
	const __mmask16 mask = (__mmask16)((1u << n) - 1);

	return (ivec)_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, p));
#else
	uint8_t at[LANES] = {0};

	memcpy(at, p, n);
	return load_bytes(at);
#endif
}

/* The low byte of each lane. */
INLINE void store_bytes(uint8_t *p, ivec v)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	_mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8((__m512i)v));
#elif defined(__AVX2__) && MSD_LANES == 8
	const __m256i order = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1,
					       -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4,
					       8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
	const __m256i b = _mm256_shuffle_epi8((__m256i)v, order);

	_mm_storel_epi64((void *)p, _mm_or_si128(_mm256_castsi256_si128(b),
						 _mm256_extracti128_si256(b, 1)));
#else
	*(bvec_at *)p = __builtin_convertvector(v, bvec);
#endif
}

INLINE void store_some_bytes(uint8_t *p, ivec v, size_t n)
{
	if (n >= LANES) {
		store_bytes(p, v);
		return;
	}
#ifdef MSD_HAS_MASKS
	const __mmask16 mask = (__mmask16)((1u << n) - 1);

	_mm_mask_storeu_epi8(p, mask, _mm512_cvtepi32_epi8((__m512i)v));
#else
	uint8_t at[LANES];

	store_bytes(at, v);
	memcpy(p, at, n);
#endif
}

INLINE void store_some_units(void *p, ivec v, size_t n)
{
#ifdef MSD_HAS_MASKS
	const uint32_t mask = n < LANES ? (1u << n) - 1 : UINT16_MAX;

	_mm512_mask_storeu_epi32(p, (__mmask16)mask, (__m512i)v);
#else
	memcpy(p, &v, (n < LANES ? n : LANES) * sizeof(int32_t));
#endif
}

/* The values of bytes without their zero point. */
INLINE ivec values_of(ivec bytes, const struct msd_native_bytes x)
{
	return (bytes ^ (int32_t)x.flip) - x.zero;
}

/* Units of two values. */
INLINE ivec pair(ivec low, ivec high)
{
	return (low & 0xffff) | (ivec)((uvec)high << 16);
}

/* The nearest integer within limits, the even one at a tie. */
INLINE ivec round_limited(vec v, float low, float high)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	const __m512 least_of = _mm512_min_ps(
		_mm512_max_ps((__m512)v, (__m512)all(low)), (__m512)all(high));

	return (ivec)_mm512_cvtps_epi32(least_of);
#elif defined(__AVX2__) && MSD_LANES == 8
	const __m256 least_of = _mm256_min_ps(
		_mm256_max_ps((__m256)v, (__m256)all(low)), (__m256)all(high));

	return (ivec)_mm256_cvtps_epi32(least_of);
#elif defined(__SSE2__) && MSD_LANES == 4
	const __m128 least_of =
		_mm_min_ps(_mm_max_ps((__m128)v, (__m128)all(low)), (__m128)all(high));

	return (ivec)_mm_cvtps_epi32(least_of);
#else
	const vec limited = least(most(v, all(low)), all(high));

	return __builtin_convertvector(msd_nearest(limited), ivec);
#endif
}

/* As the operators are defined; a value that is not a number becomes 0. */
INLINE ivec round_bytes(vec v, const struct msd_native_rounding r)
{
	/* NaN differs from itself. NOLINTNEXTLINE(misc-redundant-expression) */
	const ivec is_number = v == v;

	return (round_limited(v, r.low, r.high) + r.zero) & is_number;
}

/* For divide_bytes(): not a number if the inverse is infinite. */
INLINE vec inverse_of(float by)
{
	const float inverse = 1 / by;

	return all(__builtin_isfinite(inverse) ? inverse : __builtin_nanf(""));
}

/* The bytes of v / by. A product by the inverse is close to the quotient, so it has the
 * same bytes if it is not near a tie. Limits are far below 1000. */
INLINE ivec divide_bytes(vec v, vec by, vec inverse, const struct msd_native_rounding r)
{
#ifdef MSD_HAS_MASKS
	const vec q = v * inverse;
	/* The distance from the nearest integer. */
	const __m512 rest = _mm512_reduce_ps((__m512)q, 0);

	if (_mm512_cmp_ps_mask(_mm512_abs_ps(rest), _mm512_set1_ps(0.499f),
			       _CMP_LT_OQ) == UINT16_MAX)
		return round_limited(q, r.low, r.high) + r.zero;
#else
	(void)inverse;
#endif
	return round_bytes(v / by, r);
}

#endif
