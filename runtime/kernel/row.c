/*
 * Each function selects the dtype once a row. The loops over contiguous elements have
 * no stride, so that the compiler vectorises them.
 */
#include "runtime/kernel/row.h"

#include "runtime/value/half.h"

#define LOAD(type, to)                                                                 \
	do {                                                                           \
		const type *x = (const type *)p + first;                               \
		for (size_t i = 0; step == 1 && i < n; i++)                            \
			ret[i] = (to)x[i];                                             \
		for (size_t i = 0; step != 1 && i < n; i++)                            \
			ret[i] = (to)x[(int64_t)i * step];                             \
	} while (false)

static void load_signed(unsigned bits, const void *p, int64_t first, int64_t step,
			size_t n, double *ret)
{
	switch (bits) {
	case 8:
		LOAD(int8_t, double);
		return;
	case 16:
		LOAD(int16_t, double);
		return;
	case 32:
		LOAD(int32_t, double);
		return;
	default:
		LOAD(int64_t, double);
	}
}

/* Also bool, and uint1, which has a byte per element. */
static void load_unsigned(unsigned bits, const void *p, int64_t first, int64_t step,
			  size_t n, double *ret)
{
	switch (bits) {
	case 16:
		LOAD(uint16_t, double);
		return;
	case 32:
		LOAD(uint32_t, double);
		return;
	case 64:
		LOAD(uint64_t, double);
		return;
	default:
		LOAD(uint8_t, double);
	}
}

void msd_row_load(struct msd_dtype dtype, const void *p, int64_t first, int64_t step,
		  size_t n, double *ret)
{
	if (msd_row_is_single(dtype)) {
		LOAD(float, double);
	} else if (dtype.code == MSD_DT_FLOAT && dtype.bits == 64) {
		LOAD(double, double);
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
		LOAD(int64_t, int64_t);
	} else if (dtype.bits == 32 && is_signed) {
		LOAD(int32_t, int64_t);
	} else if (dtype.bits == 32) {
		LOAD(uint32_t, int64_t);
	} else if (dtype.bits == 16 && is_signed) {
		LOAD(int16_t, int64_t);
	} else if (dtype.bits == 16) {
		LOAD(uint16_t, int64_t);
	} else if (is_signed) {
		LOAD(int8_t, int64_t);
	} else {
		LOAD(uint8_t, int64_t);
	}
}

#define STORE(type, value)                                                             \
	do {                                                                           \
		type *y = (type *)p + first;                                           \
		for (size_t i = 0; i < n; i++)                                         \
			y[i] = (type)(value);                                          \
	} while (false)

static void store_whole(struct msd_dtype dtype, void *p, size_t first, size_t n,
			const double *from)
{
	const enum msd_number_kind kind = msd_number_kind(dtype);

	switch (dtype.bits) {
	case 16:
		STORE(uint16_t, msd_row_whole(kind, from[i]));
		return;
	case 32:
		STORE(uint32_t, msd_row_whole(kind, from[i]));
		return;
	case 64:
		STORE(uint64_t, msd_row_whole(kind, from[i]));
		return;
	default:
		STORE(uint8_t, msd_row_whole(kind, from[i]));
	}
}

void msd_row_store_whole(struct msd_dtype dtype, void *p, size_t first, size_t n,
			 const int64_t *from)
{
	switch (dtype.bits) {
	case 16:
		STORE(uint16_t, from[i]);
		return;
	case 32:
		STORE(uint32_t, from[i]);
		return;
	case 64:
		STORE(uint64_t, from[i]);
		return;
	default:
		STORE(uint8_t, from[i]);
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
