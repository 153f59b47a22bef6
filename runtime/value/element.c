#include "runtime/value/element.h"

#include <math.h>
#include <string.h>

#include "proto/base/half.h"

/* A dtype as one number for switch statements. */
#define DTYPE(code, bits) ((unsigned)(code) << 8 | (unsigned)(bits))

enum msd_number_kind msd_number_kind(struct msd_dtype dtype)
{
	if (dtype.lanes != 1)
		return MSD_N_NONE;
	switch (DTYPE(dtype.code, dtype.bits)) {
	case DTYPE(MSD_DT_BOOL, 8):
	case DTYPE(MSD_DT_UINT, 1):
	case DTYPE(MSD_DT_UINT, 8):
	case DTYPE(MSD_DT_UINT, 16):
	case DTYPE(MSD_DT_UINT, 32):
	case DTYPE(MSD_DT_INT, 8):
	case DTYPE(MSD_DT_INT, 16):
	case DTYPE(MSD_DT_INT, 32):
	case DTYPE(MSD_DT_INT, 64):
		return MSD_N_INT;
	case DTYPE(MSD_DT_UINT, 64):
		return MSD_N_UINT64;
	case DTYPE(MSD_DT_FLOAT, 16):
	case DTYPE(MSD_DT_BFLOAT, 16):
	case DTYPE(MSD_DT_FLOAT, 32):
	case DTYPE(MSD_DT_FLOAT, 64):
		return MSD_N_FLOAT;
	default:
		return MSD_N_NONE;
	}
}

static double bfloat_load(const uint16_t *p)
{
	const uint32_t bits = (uint32_t)*p << 16;
	float v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

union msd_number msd_number_load(struct msd_dtype dtype, const void *p, int64_t i)
{
	switch (DTYPE(dtype.code, dtype.bits)) {
	case DTYPE(MSD_DT_INT, 8):
		return (union msd_number){.i = ((const int8_t *)p)[i]};
	case DTYPE(MSD_DT_INT, 16):
		return (union msd_number){.i = ((const int16_t *)p)[i]};
	case DTYPE(MSD_DT_UINT, 16):
		return (union msd_number){.i = ((const uint16_t *)p)[i]};
	case DTYPE(MSD_DT_INT, 32):
		return (union msd_number){.i = ((const int32_t *)p)[i]};
	case DTYPE(MSD_DT_UINT, 32):
		return (union msd_number){.i = ((const uint32_t *)p)[i]};
	case DTYPE(MSD_DT_INT, 64):
	case DTYPE(MSD_DT_UINT, 64):
		return (union msd_number){.i = ((const int64_t *)p)[i]};
	case DTYPE(MSD_DT_FLOAT, 16):
		return (union msd_number){
			.f = msd_half_to_float(((const uint16_t *)p)[i])};
	case DTYPE(MSD_DT_BFLOAT, 16):
		return (union msd_number){.f = bfloat_load((const uint16_t *)p + i)};
	case DTYPE(MSD_DT_FLOAT, 32):
		return (union msd_number){.f = ((const float *)p)[i]};
	case DTYPE(MSD_DT_FLOAT, 64):
		return (union msd_number){.f = ((const double *)p)[i]};
	default: /* uint8 and bool */
		return (union msd_number){.i = ((const uint8_t *)p)[i]};
	}
}

bool msd_number_int(struct msd_dtype dtype, const void *p, int64_t i, int64_t *ret)
{
	const enum msd_number_kind kind = msd_number_kind(dtype);

	if (kind != MSD_N_INT && kind != MSD_N_UINT64)
		return false;
	*ret = msd_number_load(dtype, p, i).i;
	return true;
}

void msd_number_store_float(struct msd_dtype dtype, void *p, int64_t i, double v)
{
	if (dtype.code == MSD_DT_BFLOAT) {
		((uint16_t *)p)[i] = msd_bfloat_from_float((float)v);
	} else if (dtype.bits == 16) {
		((uint16_t *)p)[i] = msd_half_from_double(v);
	} else if (dtype.bits == 32) {
		((float *)p)[i] = (float)v;
	} else {
		((double *)p)[i] = v;
	}
}

void msd_number_store(struct msd_dtype dtype, void *p, int64_t i, int64_t v)
{
	if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		msd_number_store_float(dtype, p, i, (double)v);
	} else if (dtype.bits == 16) {
		((uint16_t *)p)[i] = (uint16_t)v;
	} else if (dtype.bits == 32) {
		((uint32_t *)p)[i] = (uint32_t)v;
	} else if (dtype.bits == 64) {
		((int64_t *)p)[i] = v;
	} else {
		((uint8_t *)p)[i] = (uint8_t)v;
	}
}

static bool is_truth(struct msd_dtype dtype)
{
	return dtype.code == MSD_DT_BOOL || dtype.bits == 1;
}

union msd_number msd_number_lowest(struct msd_dtype dtype)
{
	if (msd_number_kind(dtype) == MSD_N_FLOAT)
		return (union msd_number){.f = -INFINITY};
	if (dtype.code != MSD_DT_INT)
		return (union msd_number){.i = 0};
	return (union msd_number){.i = INT64_MIN >> (64 - dtype.bits)};
}

union msd_number msd_number_highest(struct msd_dtype dtype)
{
	if (msd_number_kind(dtype) == MSD_N_FLOAT)
		return (union msd_number){.f = INFINITY};
	if (is_truth(dtype))
		return (union msd_number){.i = 1};
	if (dtype.code == MSD_DT_INT)
		return (union msd_number){.i = INT64_MAX >> (64 - dtype.bits)};
	return (union msd_number){.i = (int64_t)(UINT64_MAX >> (64 - dtype.bits))};
}

int64_t msd_number_key(enum msd_number_kind kind, union msd_number v)
{
	if (kind == MSD_N_INT)
		return v.i;
	if (kind == MSD_N_UINT64)
		return (int64_t)((uint64_t)v.i ^ (uint64_t)1 << 63);
	if (v.f != v.f)
		return MSD_KEY_NAN;
	if (v.f == 0)
		return 0;
	/* The bits of positive doubles sort as integers; those of negative doubles
	 * sort in reverse. */
	return v.i >= 0 ? v.i : (int64_t)(~(uint64_t)v.i | (uint64_t)1 << 63);
}
