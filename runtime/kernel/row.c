/*
 * Each function selects the dtype once a row. The loops over contiguous elements have
 * no stride, so that the compiler vectorises them.
 */
#include "runtime/kernel/row.h"

#define LOAD(name, type, to)                                                           \
	static void load_##name(const type *x, int64_t step, size_t n, to *ret)        \
	{                                                                              \
		for (size_t i = 0; step == 1 && i < n; i++)                            \
			ret[i] = (to)x[i];                                             \
		for (size_t i = 0; step != 1 && i < n; i++)                            \
			ret[i] = (to)x[(int64_t)i * step];                             \
	}
LOAD(float, float, double)
LOAD(double, double, double)
LOAD(int8, int8_t, double)
LOAD(whole_int8, int8_t, int64_t)
LOAD(int16, int16_t, double)
LOAD(whole_int16, int16_t, int64_t)
LOAD(int32, int32_t, double)
LOAD(whole_int32, int32_t, int64_t)
LOAD(int64, int64_t, double)
LOAD(whole_int64, int64_t, int64_t)
LOAD(uint8, uint8_t, double)
LOAD(whole_uint8, uint8_t, int64_t)
LOAD(uint16, uint16_t, double)
LOAD(whole_uint16, uint16_t, int64_t)
LOAD(uint32, uint32_t, double)
LOAD(whole_uint32, uint32_t, int64_t)
LOAD(uint64, uint64_t, double)

static void load_signed(unsigned bits, const void *p, int64_t first, int64_t step,
			size_t n, double *ret)
{
	switch (bits) {
	case 8:
		load_int8((const int8_t *)p + first, step, n, ret);
		return;
	case 16:
		load_int16((const int16_t *)p + first, step, n, ret);
		return;
	case 32:
		load_int32((const int32_t *)p + first, step, n, ret);
		return;
	default:
		load_int64((const int64_t *)p + first, step, n, ret);
	}
}

/* Also bool, and uint1, which has a byte per element. */
static void load_unsigned(unsigned bits, const void *p, int64_t first, int64_t step,
			  size_t n, double *ret)
{
	switch (bits) {
	case 16:
		load_uint16((const uint16_t *)p + first, step, n, ret);
		return;
	case 32:
		load_uint32((const uint32_t *)p + first, step, n, ret);
		return;
	case 64:
		load_uint64((const uint64_t *)p + first, step, n, ret);
		return;
	default:
		load_uint8((const uint8_t *)p + first, step, n, ret);
	}
}

void msd_row_load(struct msd_dtype dtype, const void *p, int64_t first, int64_t step,
		  size_t n, double *ret)
{
	if (msd_row_is_single(dtype)) {
		load_float((const float *)p + first, step, n, ret);
	} else if (dtype.code == MSD_DT_FLOAT && dtype.bits == 64) {
		load_double((const double *)p + first, step, n, ret);
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		for (size_t i = 0; i < n; i++) {
			ret[i] = msd_number_load(dtype, p, first + (int64_t)i * step).f;
		}
	} else if (dtype.code == MSD_DT_INT) {
		load_signed(dtype.bits, p, first, step, n, ret);
	} else {
		load_unsigned(dtype.bits, p, first, step, n, ret);
	}
}

void msd_row_load_whole(struct msd_dtype dtype, const void *p, int64_t first,
			int64_t step, size_t n, int64_t *ret)
{
	const bool is_signed = dtype.code == MSD_DT_INT;

	if (dtype.bits == 64) {
		load_whole_int64((const int64_t *)p + first, step, n, ret);
	} else if (dtype.bits == 32 && is_signed) {
		load_whole_int32((const int32_t *)p + first, step, n, ret);
	} else if (dtype.bits == 32) {
		load_whole_uint32((const uint32_t *)p + first, step, n, ret);
	} else if (dtype.bits == 16 && is_signed) {
		load_whole_int16((const int16_t *)p + first, step, n, ret);
	} else if (dtype.bits == 16) {
		load_whole_uint16((const uint16_t *)p + first, step, n, ret);
	} else if (is_signed) {
		load_whole_int8((const int8_t *)p + first, step, n, ret);
	} else {
		load_whole_uint8((const uint8_t *)p + first, step, n, ret);
	}
}

#define STORE(bits)                                                                    \
	static void store_##bits(enum msd_number_kind kind, uint##bits##_t *y,         \
				 size_t n, const double *from)                         \
	{                                                                              \
		for (size_t i = 0; i < n; i++)                                         \
			y[i] = (uint##bits##_t)msd_row_whole(kind, from[i]);           \
	}                                                                              \
                                                                                       \
	static void store_whole_##bits(uint##bits##_t *y, size_t n,                    \
				       const int64_t *from)                            \
	{                                                                              \
		for (size_t i = 0; i < n; i++)                                         \
			y[i] = (uint##bits##_t)from[i];                                \
	}
STORE(8)
STORE(16)
STORE(32)
STORE(64)

static void store_whole(struct msd_dtype dtype, void *p, size_t first, size_t n,
			const double *from)
{
	const enum msd_number_kind kind = msd_number_kind(dtype);

	switch (dtype.bits) {
	case 16:
		store_16(kind, (uint16_t *)p + first, n, from);
		return;
	case 32:
		store_32(kind, (uint32_t *)p + first, n, from);
		return;
	case 64:
		store_64(kind, (uint64_t *)p + first, n, from);
		return;
	default:
		store_8(kind, (uint8_t *)p + first, n, from);
	}
}

void msd_row_store_whole(struct msd_dtype dtype, void *p, size_t first, size_t n,
			 const int64_t *from)
{
	switch (dtype.bits) {
	case 16:
		store_whole_16((uint16_t *)p + first, n, from);
		return;
	case 32:
		store_whole_32((uint32_t *)p + first, n, from);
		return;
	case 64:
		store_whole_64((uint64_t *)p + first, n, from);
		return;
	default:
		store_whole_8((uint8_t *)p + first, n, from);
	}
}

void msd_row_store(struct msd_dtype dtype, void *p, size_t first, size_t n,
		   const double *from)
{
	if (msd_row_is_single(dtype)) {
		float *y = (float *)p + first;

		for (size_t i = 0; i < n; i++)
			y[i] = (float)from[i];
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		for (size_t i = 0; i < n; i++) {
			msd_number_store_float(dtype, p, (int64_t)(first + i), from[i]);
		}
	} else {
		store_whole(dtype, p, first, n, from);
	}
}
