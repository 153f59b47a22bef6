#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_LANES_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_LANES_H
/*
 * The vectors of one level, and the names of its symbols. CMakeLists.txt defines
 * MSD_LEVEL, MSD_LANES, MSD_ROWS and MSD_VECTORS. Only sources in level/ include this
 * header. They use GNU vectors, which become the instructions that the flags allow.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "runtime/engine/native/kernels.h"

#define MSD_JOIN3(a, b, c) a##b##c
#define MSD_LEVEL_NAME3(level, name) MSD_JOIN3(level, _, name)
/* The symbol of @name in this level. */
#define LEVEL(name) MSD_LEVEL_NAME3(MSD_JOIN_LEVEL, name)
#define MSD_JOIN_LEVEL MSD_LEVEL_PREFIX

#define LANES MSD_LANES
#define ROWS MSD_ROWS
#define VECTORS MSD_VECTORS
#define PANEL (LANES * VECTORS)
#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(MSD_LANES * 4)));
typedef float vec_at __attribute__((vector_size(MSD_LANES * 4), aligned(4), may_alias));
typedef int32_t ivec __attribute__((vector_size(MSD_LANES * 4)));
typedef uint32_t uvec __attribute__((vector_size(MSD_LANES * 4)));

INLINE vec load(const float *p)
{
	return *(const vec_at *)p;
}

INLINE void store(float *p, vec v)
{
	*(vec_at *)p = v;
}

INLINE vec all(float v)
{
	return v - (vec){0};
}

#if defined(__AVX512F__) && MSD_LANES == 16
/* The first @n lanes. */
INLINE __mmask16 msd_first(size_t n)
{
	return (__mmask16)(n < LANES ? (1u << n) - 1 : 0xffff);
}
#elif defined(__AVX2__) && MSD_LANES == 8
INLINE __m256i msd_first(size_t n)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n),
				  _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

/* The first @n lanes; the others are @fill. */
INLINE vec load_some(const float *p, size_t n, float fill)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_mask_loadu_ps((__m512)all(fill), msd_first(n), p);
#elif defined(__AVX2__) && MSD_LANES == 8
	const __m256i first = msd_first(n);

	return (vec)_mm256_blendv_ps((__m256)all(fill), _mm256_maskload_ps(p, first),
				     (__m256)first);
#else
	float at[LANES];

	for (size_t i = 0; i < LANES; i++)
		at[i] = i < n ? p[i] : fill;
	return load(at);
#endif
}

INLINE void store_some(float *p, vec v, size_t n)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	_mm512_mask_storeu_ps(p, msd_first(n), (__m512)v);
#elif defined(__AVX2__) && MSD_LANES == 8
	_mm256_maskstore_ps(p, msd_first(n), (__m256)v);
#else
	float at[LANES];

	store(at, v);
	for (size_t i = 0; i < n; i++)
		p[i] = at[i];
#endif
}

/* Lane i is p[from[i]], with distances below 2 * LANES. */
INLINE vec load_from(const float *p, ivec from)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_permutex2var_ps((__m512)load(p), (__m512i)from,
					   (__m512)load(p + LANES));
#elif defined(__AVX2__) && MSD_LANES == 8
	const __m256 low = _mm256_permutevar8x32_ps((__m256)load(p), (__m256i)from);
	const __m256 high =
		_mm256_permutevar8x32_ps((__m256)load(p + LANES), (__m256i)from);

	return (vec)_mm256_blendv_ps(low, high, (__m256)(from > LANES - 1));
#else
	vec ret;

	for (size_t i = 0; i < LANES; i++)
		ret[i] = p[from[i]];
	return ret;
#endif
}

/* @a[0], @b[0], @a[1], ... */
INLINE void msd_interleave(vec a, vec b, float *ret)
{
#if defined(__AVX2__) && MSD_LANES == 8
	/* Halves of the vectors stay halves. */
	const __m256 low = _mm256_unpacklo_ps((__m256)a, (__m256)b);
	const __m256 high = _mm256_unpackhi_ps((__m256)a, (__m256)b);

	store(ret, (vec)_mm256_permute2f128_ps(low, high, 0x20));
	store(ret + LANES, (vec)_mm256_permute2f128_ps(low, high, 0x31));
#elif defined(__AVX512F__) && MSD_LANES == 16
	const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
					      6, 22, 7, 23);
	const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
					       29, 14, 30, 15, 31);

	store(ret, (vec)_mm512_permutex2var_ps((__m512)a, low, (__m512)b));
	store(ret + LANES, (vec)_mm512_permutex2var_ps((__m512)a, high, (__m512)b));
#else
	float at[2][LANES];

	store(at[0], a);
	store(at[1], b);
#pragma GCC unroll 16
	for (size_t i = 0; i < LANES; i++) {
		ret[2 * i] = at[0][i];
		ret[2 * i + 1] = at[1][i];
	}
#endif
}

/* Lanes of @a where all bits of @mask are set, else of @b, where none is. */
INLINE vec pick(ivec mask, vec a, vec b)
{
#if defined(__AVX2__) && MSD_LANES == 8
	return (vec)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
	return (vec)(((ivec)a & mask) | ((ivec)b & ~mask));
#endif
}

/* True if a lane of @mask has bits. */
INLINE bool msd_any(ivec mask)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return _mm512_test_epi32_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(__AVX2__) && MSD_LANES == 8
	return _mm256_testz_si256((__m256i)mask, (__m256i)mask) == 0;
#else
	int32_t bits = 0;

	for (size_t i = 0; i < LANES; i++)
		bits |= mask[i];
	return bits != 0;
#endif
}

/* The smaller and the larger one; @a if one is not a number, or if both are 0: the
 * instructions of x86 return their second operand then. */
INLINE vec least(vec a, vec b)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_min_ps((__m512)b, (__m512)a);
#elif defined(__AVX2__) && MSD_LANES == 8
	return (vec)_mm256_min_ps((__m256)b, (__m256)a);
#elif defined(__SSE2__) && MSD_LANES == 4
	return (vec)_mm_min_ps((__m128)b, (__m128)a);
#else
	return pick(b < a, b, a);
#endif
}

INLINE vec most(vec a, vec b)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_max_ps((__m512)b, (__m512)a);
#elif defined(__AVX2__) && MSD_LANES == 8
	return (vec)_mm256_max_ps((__m256)b, (__m256)a);
#elif defined(__SSE2__) && MSD_LANES == 4
	return (vec)_mm_max_ps((__m128)b, (__m128)a);
#else
	return pick(b > a, b, a);
#endif
}

/* @a * @b + @c, rounded once on levels that can: the compiler fuses a product and a sum
 * only while both are in one basic block, and sanitizers part these at each access. */
INLINE vec msd_fused(vec a, vec b, vec c)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	return (vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__) && MSD_LANES == 8
	return (vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__FMA__)
	for (size_t i = 0; i < LANES; i++)
		c[i] = __builtin_fmaf(a[i], b[i], c[i]);
	return c;
#elif defined(__ARM_NEON) && MSD_LANES == 4
	return (vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
	return a * b + c;
#endif
}

#endif
