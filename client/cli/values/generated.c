#include "client/cli/values/generated.h"

#include <string.h>

#include "client/cli/values/number.h"
#include "proto/base/half.h"
#include "proto/base/xorshift.h"

#define SEED UINT64_C(0x9e3779b97f4a7c15)

/* The same numbers on every machine. */
static uint32_t draw(uint32_t below)
{
	static uint64_t state = SEED;

	return (uint32_t)(msd_xorshift(&state) >> 32) % below;
}

/*
 * Number of steps that the narrowest type represents exactly, so that no value rounds
 * up to 1: bfloat16 for 16 bits, 2 bits of mantissa for 8 and 6, float4_e2m1fn for 4.
 */
static uint32_t steps_of(struct msd_dtype t)
{
	if (t.bits >= 16)
		return 256;
	return t.bits >= 6 ? 8 : 2;
}

static uint64_t float_bits(struct msd_dtype t, bool is_random)
{
	const uint32_t steps = steps_of(t);
	const float v = is_random ? (float)draw(steps) / (float)steps : 1.0f;
	const double wide = is_random ? (double)draw(1u << 24) / 0x1p24 : 1.0;
	const float single = (float)wide; /* exact: 24 bits */
	uint8_t small = 0;
	uint64_t all;
	uint32_t bits;

	if (t.bits == 64) {
		memcpy(&all, &wide, sizeof(all));
		return all;
	}
	memcpy(&bits, t.bits == 32 ? &single : &v, sizeof(bits));
	if (t.bits == 32)
		return bits;
	if (t.bits == 16)
		return t.code == MSD_DT_BFLOAT ? bits >> 16 : msd_half_from_float(v);
	(void)msd_number_small_bits((modser_dtype){t.code, t.bits, 1}, (double)v,
				    &small);
	return small;
}

/* 0 to 9, or the range of a smaller type. */
static uint64_t int_bits(struct msd_dtype t, bool is_random)
{
	const unsigned n = t.code == MSD_DT_INT ? t.bits - 1u : t.bits;
	const uint32_t below = t.code == MSD_DT_BOOL ? 2 : n < 4 ? 1u << n : 10;

	return is_random ? draw(below) : 1;
}

static bool is_int(struct msd_dtype t)
{
	return t.code == MSD_DT_INT || t.code == MSD_DT_UINT || t.code == MSD_DT_BOOL;
}

bool msd_generated_has(struct msd_dtype t)
{
	const bool is_wide = t.code == MSD_DT_FLOAT || t.code == MSD_DT_BFLOAT;
	uint8_t one;

	if (t.lanes == 0 || t.bits < 1 || t.bits > 64)
		return false;
	if (is_int(t))
		return true;
	return is_wide ? t.bits >= 16
		       : msd_number_small_bits((modser_dtype){t.code, t.bits, 1}, 1,
					       &one);
}

msd_err msd_generated_make(struct msd_dtype t, enum msd_generated_with with,
			   uint8_t *data, uint64_t bytes, struct msd_diag *d)
{
	const bool is_random = with == MSD_GENERATED_RANDOM;
	char name[MSD_DTYPE_NAME_MAX];

	memset(data, 0, (size_t)bytes);
	if (with == MSD_GENERATED_ZEROS)
		return MSD_OK;
	if (!msd_generated_has(t)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "for %s only zeros can be generated",
				    msd_dtype_format(t, name));
	}
	for (uint64_t at = 0; at + t.bits <= 8 * bytes; at += t.bits) {
		msd_number_put_bits(data, at, t.bits,
				    is_int(t) ? int_bits(t, is_random)
					      : float_bits(t, is_random));
	}
	return MSD_OK;
}
