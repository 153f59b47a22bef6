#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_MATH_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_MATH_H
/*
 * Functions of each lane, within 2 units of the last place of float32 beyond its
 * rounding, or as their comments say. A value that is not a number stays one.
 */
#include "runtime/engine/native/level/lanes.h"

INLINE vec msd_abs(vec x)
{
	return (vec)((ivec)x & 0x7fffffff);
}

/* @x with the sign of @sign. */
INLINE vec msd_signed(vec x, vec sign)
{
	return (vec)(((ivec)x & 0x7fffffff) | ((ivec)sign & INT32_MIN));
}

/* The nearest integer, for |x| below 2^22. */
INLINE vec msd_nearest(vec x)
{
	const vec magic = all(0x1.8p23f);

	return (x + magic) - magic;
}

INLINE ivec msd_is_nan(vec x)
{
	return ((ivec)x & 0x7fffffff) > 0x7f800000;
}

/* 2^n * (1 + r + r^2 p(r)): the parts of exp(x), without the exponent. */
INLINE vec msd_exp_poly(vec r)
{
	vec p = all(0x1.6850e4p-10f);

	p = p * r + all(0x1.123bccp-7f);
	p = p * r + all(0x1.555b98p-5f);
	p = p * r + all(0x1.55548ep-3f);
	p = p * r + all(0x1.fffff8p-2f);
	return p;
}

/* 2^n for integers n from -126 to 127. */
INLINE vec msd_power2(ivec n)
{
	return (vec)(((uvec)n + 127u) << 23);
}

INLINE vec msd_exp(vec x)
{
	/* Beyond these bounds the result is 0 or infinity. */
	const vec v = least(most(x, all(-104)), all(89));
	const vec n = msd_nearest(v * all(0x1.715476p0f));
	vec r = v - n * all(0x1.62e400p-1f);
	r = r - n * all(0x1.7f7d1cp-20f);
	const vec p = msd_exp_poly(r);
	const vec y = r * r * p + r + all(1);
	/* Two factors: the result may be subnormal. */
	const ivec whole = __builtin_convertvector(n, ivec);
	const ivec half = whole >> 1;

	return y * msd_power2(half) * msd_power2(whole - half);
}

/* exp(x) / 2 where 1 is added to exp(x): below -86 it no longer counts. Twice the
 * result is infinite where exp(x) is. */
INLINE vec msd_half_exp(vec x)
{
	const vec magic = all(0x1.8p23f);
	const vec v = least(most(x, all(-86)), all(89));
	const vec shifted = v * all(0x1.715476p0f) + magic; /* n in its last bits */
	const vec n = shifted - magic;
	vec r = v - n * all(0x1.62e400p-1f);
	r = r - n * all(0x1.7f7d1cp-20f);
	const vec p = msd_exp_poly(r);

	return (r * r * p + r + all(1)) * (vec)(((uvec)shifted + 126u) << 23);
}

/* exp(x) for x <= 0, the share of a sum that is at least 1; 0 below the normal numbers,
 * for which processors take a hundred times as long. */
INLINE vec msd_exp_share(vec x)
{
	const vec magic = all(0x1.8p23f);
	const vec v = most(x, all(-87));
	const vec shifted = v * all(0x1.715476p0f) + magic; /* n in its last bits */
	const vec n = shifted - magic;
	vec r = v - n * all(0x1.62e400p-1f);
	r = r - n * all(0x1.7f7d1cp-20f);
	const vec p = msd_exp_poly(r);
	const vec y = (r * r * p + r + all(1)) * (vec)(((uvec)shifted + 127u) << 23);

	return pick(x < all(-87), all(0), y);
}

/* exp(x) - 1 for x <= 0, also close to 0. */
INLINE vec msd_expm1_low(vec x)
{
	const vec v = most(x, all(-30));
	const vec n = msd_nearest(v * all(0x1.715476p0f));
	vec r = v - n * all(0x1.62e400p-1f);
	r = r - n * all(0x1.7f7d1cp-20f);
	const vec p = msd_exp_poly(r);
	const vec scale = msd_power2(__builtin_convertvector(n, ivec));

	return (r * r * p + r) * scale + (scale - all(1));
}

INLINE vec msd_log(vec x)
{
	const ivec is_small = x < all(0x1p-126f);
	const vec v = pick(is_small, x * all(0x1p25f), x);
	const ivec bits = (ivec)v;
	/* v = m * 2^e with m from sqrt(1/2) to sqrt(2) */
	const ivec shifted = (ivec)((uvec)bits - 0x3f3504f3u);
	const vec e = __builtin_convertvector(shifted >> 23, vec) -
		      pick(is_small, all(25), all(0));
	const vec m = (vec)((shifted & 0x7fffff) + 0x3f3504f3);
	const vec f = m - all(1);
	vec p = all(7.0376836292e-2f);
	p = p * f + all(-1.1514610310e-1f);
	p = p * f + all(1.1676998740e-1f);
	p = p * f + all(-1.2420140846e-1f);
	p = p * f + all(1.4249322787e-1f);
	p = p * f + all(-1.6668057665e-1f);
	p = p * f + all(2.0000714765e-1f);
	p = p * f + all(-2.4999993993e-1f);
	p = p * f + all(3.3333331174e-1f);
	const vec s = f * f;
	vec y = f * s * p;
	y = y + e * all(-2.12194440e-4f);
	y = y - all(0.5f) * s;
	y = f + y + e * all(0.693359375f);
	y = pick(x == all(__builtin_inff()), x, y);
	y = pick(x == all(0), all(-__builtin_inff()), y);
	return pick((x < all(0)) | msd_is_nan(x), all(__builtin_nanf("")), y);
}

INLINE vec msd_sigmoid(vec x)
{
	return all(1) / (all(1) + all(2) * msd_half_exp(-x));
}

/* Near 0 an odd polynomial, else 1 - 2 / (exp(2x) + 1). */
INLINE vec msd_tanh(vec x)
{
	const vec a = msd_abs(x);
	const vec s = x * x;
	vec p = all(-5.70498872745e-3f);
	p = p * s + all(2.06390887954e-2f);
	p = p * s + all(-5.37397155531e-2f);
	p = p * s + all(1.33314422036e-1f);
	p = p * s + all(-3.33332819422e-1f);
	const vec low = x * s * p + x;
	const vec high = all(1) - all(2) / (all(2) * msd_half_exp(a + a) + all(1));

	return pick(msd_is_nan(x), x, msd_signed(pick(a < all(0.625f), low, high), x));
}

/* Two polynomials (by N. Juffa): near 0, and for the logarithm of 1 - erf. */
INLINE vec msd_erf(vec x)
{
	const vec a = least(msd_abs(x), all(4));
	const vec s = x * x;
	vec r = all(-1.72853470e-5f);
	vec u = all(3.83197126e-4f);

	r = r * a + u;
	u = all(-3.88396438e-3f);
	r = r * a + u;
	u = all(2.42546219e-2f);
	r = r * a + u;
	u = all(-1.06777877e-1f);
	r = r * a + u;
	u = all(-6.34846687e-1f);
	r = r * a + u;
	u = all(-1.28717512e-1f);
	r = r * a + u;
	r = r * a - a;
	const vec high = all(1) - msd_exp(r);
	vec p = all(-5.96761703e-4f);
	p = p * s + all(4.99119423e-3f);
	p = p * s + all(-2.67681349e-2f);
	p = p * s + all(1.12819925e-1f);
	p = p * s + all(-3.76125336e-1f);
	p = p * s + all(1.28379166e-1f);
	const vec low = x * p + x;

	return pick(msd_is_nan(x), x,
		    pick(msd_abs(x) > all(0.927734375f), msd_signed(high, x), low));
}

#endif
