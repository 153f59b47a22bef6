#include "proto/base/half.h"

#include <string.h>

#define HALF_INF 0x7c00u
#define HALF_NAN 0x7e00u

uint16_t msd_half_from_double(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000u);
	const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
	const uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);

	if (exponent == 1024) { /* quiet the NaN, keep the top of its payload */
		return (uint16_t)(sign |
				  (fraction == 0
					   ? HALF_INF
					   : (HALF_NAN | (uint16_t)(fraction >> 42))));
	}
	if (exponent > 15)
		return (uint16_t)(sign | HALF_INF);
	if (exponent < -25)
		return sign;
	/* Bits to drop: 42 for normal numbers, more for numbers below 2^-14. */
	const unsigned drop = exponent >= -14 ? 42u : 42u + (unsigned)(-14 - exponent);
	const uint64_t mantissa = fraction | (uint64_t)1 << 52;
	uint64_t kept = mantissa >> drop;
	const uint64_t rest = mantissa & (((uint64_t)1 << drop) - 1);
	const uint64_t middle = (uint64_t)1 << (drop - 1);

	if (rest > middle || (rest == middle && (kept & 1) != 0))
		kept++; /* may carry into the exponent: the result is the next half
			   float */
	if (exponent >= -14) {
		kept += (uint64_t)(exponent + 14)
			<< 10; /* the hidden bit adds the rest */
	}
	return (uint16_t)(sign | kept);
}

uint16_t msd_half_from_float(float v)
{
	return msd_half_from_double((double)v);
}

float msd_half_to_float(uint16_t v)
{
	const uint32_t sign = (uint32_t)(v & 0x8000u) << 16;
	uint32_t exponent = v >> 10 & 0x1fu;
	uint32_t fraction = v & 0x3ffu;
	uint32_t bits;
	float out;

	if (exponent == 0x1f) {
		bits = sign | 0x7f800000u | fraction << 13;
		if (fraction != 0)
			bits |= 0x00400000u;
	} else if (exponent == 0 && fraction == 0) {
		bits = sign;
	} else {
		if (exponent == 0) { /* subnormal: shift the leading one into place */
			exponent = 1;
			while ((fraction & 0x400u) == 0) {
				fraction <<= 1;
				exponent--;
			}
			fraction &= 0x3ffu;
		}
		bits = sign | (exponent + 112) << 23 | fraction << 13;
	}
	memcpy(&out, &bits, sizeof(out));
	return out;
}

uint16_t msd_bfloat_from_float(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	if (v != v) /* rounding would turn some NaNs into infinity */
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
