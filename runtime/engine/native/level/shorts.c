/* Floats of 16 bits to float32 and back, rounded to the nearest, ties to even. */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/math.h"

typedef uint16_t svec __attribute__((vector_size(MSD_LANES * 2)));
typedef uint16_t svec_at
	__attribute__((vector_size(MSD_LANES * 2), aligned(2), may_alias));

INLINE uvec every(uint32_t v)
{
	return v - (uvec){0};
}

INLINE uvec choose(ivec mask, uvec a, uvec b)
{
	return (a & (uvec)mask) | (b & ~(uvec)mask);
}

/* The product adjusts the exponent and is exact, also below the normal numbers. */
INLINE vec widen_half(uvec h)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)h));
#else
	const uvec size = (h & every(0x7fff)) << 13;
	const uvec finite = (uvec)((vec)size * all(0x1p112f));
	const uvec infinite = (uvec)((ivec)size >= (ivec)every(0x0f800000));
	const uvec nan = (uvec)((ivec)size > (ivec)every(0x0f800000));

	return (vec)(finite | (infinite & every(0x7f800000)) |
		     (nan & every(0x00400000)) | (h & every(0x8000)) << 16);
#endif
}

INLINE uvec narrow_half(vec v)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (uvec)_mm512_cvtepu16_epi32(
		_mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#else
	const uvec bits = (uvec)v;
	const uvec size = bits & every(0x7fffffff);
	const uvec odd = size >> 13 & every(1);
	const uvec normal = (size + odd + every(0xfff) - every(0x38000000)) >> 13;
	/* The last place of 0.5 is the smallest half, so the sum rounds to it. */
	const uvec small = (uvec)((vec)size + all(0.5f)) - every(0x3f000000);
	const uvec special =
		choose((ivec)size > (ivec)every(0x7f800000),
		       every(0x7e00) | (size >> 13 & every(0x3ff)), every(0x7c00));
	const uvec finite = choose((ivec)size < (ivec)every(0x38800000), small, normal);

	return choose((ivec)size < (ivec)every(0x47800000), finite, special) |
	       (bits >> 16 & every(0x8000));
#endif
}

INLINE uvec narrow_bfloat(vec v)
{
	const uvec bits = (uvec)v;
	const uvec odd = bits >> 16 & every(1);

	return choose(msd_is_nan(v), every(0x7fc0), (bits + odd + every(0x7fff)) >> 16);
}

INLINE void widen_with(const bool is_bfloat, const uint16_t *x, size_t n, float *y)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		uint16_t some[LANES] = {0};

		if (left < LANES)
			memcpy(some, x + i, left * sizeof(*x));
		const uvec at = __builtin_convertvector(
			*(const svec_at *)(left < LANES ? some : x + i), uvec);
		const vec v = is_bfloat ? (vec)(at << 16) : widen_half(at);

		if (left < LANES) {
			store_some(y + i, v, left);
		} else {
			store(y + i, v);
		}
	}
}

INLINE void narrow_with(const bool is_bfloat, const float *x, size_t n, uint16_t *y)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec v = left < LANES ? load_some(x + i, left, 0) : load(x + i);
		const svec at = __builtin_convertvector(
			is_bfloat ? narrow_bfloat(v) : narrow_half(v), svec);

		memcpy(y + i, &at, (left < LANES ? left : LANES) * sizeof(*y));
	}
}

void LEVEL(widen)(bool is_bfloat, const uint16_t *x, size_t n, float *y)
{
	if (is_bfloat) {
		widen_with(true, x, n, y);
	} else {
		widen_with(false, x, n, y);
	}
}

void LEVEL(narrow)(bool is_bfloat, const float *x, size_t n, uint16_t *y)
{
	if (is_bfloat) {
		narrow_with(true, x, n, y);
	} else {
		narrow_with(false, x, n, y);
	}
}
