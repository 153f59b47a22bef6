#include "client/cli/filled.h"

#include <string.h>

#define SEED UINT64_C(0x9e3779b97f4a7c15)

/* xorshift: the same numbers on every machine. */
static uint32_t draw(uint32_t below)
{
	static uint64_t state = SEED;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

/* The bits of @v as a half float; @v is one that has no more than its 11 bits and is
 * not subnormal. */
static uint16_t half_of(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits == 0 ? 0
			 : (uint16_t)(((bits >> 23) - 112u) << 10 |
				      (bits >> 13 & 0x3ffu));
}

/* Steps of which the shortest type, bfloat16, has each one exactly. */
static void put_float(struct msd_dtype t, bool is_random, uint8_t *at)
{
	const float v = is_random ? (float)draw(256) / 256.0f : 1.0f;
	const double wide = is_random ? (double)draw(1u << 24) / 0x1p24 : 1.0;
	const float single = (float)wide; /* exact: 24 bits */
	const uint16_t half = half_of(v);
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	const uint16_t brain = (uint16_t)(bits >> 16);
	if (t.bits == 64) {
		memcpy(at, &wide, sizeof(wide));
	} else if (t.bits == 32) {
		memcpy(at, &single, sizeof(single));
	} else {
		memcpy(at, t.code == MSD_DT_BFLOAT ? &brain : &half, sizeof(half));
	}
}

static void put_int(struct msd_dtype t, bool is_random, uint8_t *at)
{
	const uint32_t below = t.code == MSD_DT_BOOL ? 2 : 10;

	memset(at, 0, t.bits / 8u);
	at[0] = (uint8_t)(is_random ? draw(below) : 1); /* little-endian */
}

msd_err msd_filled_make(struct msd_dtype t, enum msd_filled_with with, uint8_t *data,
			uint64_t bytes, struct msd_diag *d)
{
	const bool is_int =
		t.code == MSD_DT_INT || t.code == MSD_DT_UINT || t.code == MSD_DT_BOOL;
	const bool is_float = t.code == MSD_DT_FLOAT || t.code == MSD_DT_BFLOAT;
	char name[MSD_DTYPE_NAME_MAX];

	memset(data, 0, (size_t)bytes);
	if (with == MSD_FILLED_ZEROS)
		return MSD_OK;
	if ((!is_int && !is_float) || t.bits < 8) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "of %s only zeros can be made",
				    msd_dtype_format(t, name));
	}
	for (uint64_t at = 0; at < bytes; at += t.bits / 8u) {
		if (is_int) {
			put_int(t, with == MSD_FILLED_RANDOM, data + at);
		} else {
			put_float(t, with == MSD_FILLED_RANDOM, data + at);
		}
	}
	return MSD_OK;
}
