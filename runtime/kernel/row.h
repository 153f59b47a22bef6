#ifndef MSD_RUNTIME_ENGINE_ROW_H
#define MSD_RUNTIME_ENGINE_ROW_H
/*
 * Conversion of number elements of any type to double, in which kernels compute, and
 * back: single elements or rows. float32, which most models use, is read without a
 * call. Kernels convert blocks of MSD_ROW_BLOCK elements, compute, and store them.
 */
#include "proto/dtype.h"
#include "runtime/value/element.h"

enum { MSD_ROW_BLOCK = 256 };

static inline bool msd_row_is_single(struct msd_dtype dtype)
{
	return dtype.code == MSD_DT_FLOAT && dtype.bits == 32;
}

/** Element @i of @p; integers are rounded to the nearest double. */
static inline double msd_row_at(struct msd_dtype dtype, const void *p, size_t i)
{
	if (msd_row_is_single(dtype))
		return (double)((const float *)p)[i];
	const union msd_number v = msd_number_load(dtype, p, (int64_t)i);
	const enum msd_number_kind kind = msd_number_kind(dtype);
	if (kind == MSD_N_UINT64)
		return (double)(uint64_t)v.i;
	return kind == MSD_N_FLOAT ? v.f : (double)v.i;
}

/** @v truncated towards 0 and clamped to 64 bits. */
static inline int64_t msd_row_whole(enum msd_number_kind kind, double v)
{
	if (kind == MSD_N_UINT64 && v >= 0x1p63)
		return v < 0x1p64 ? (int64_t)(uint64_t)v : (int64_t)UINT64_MAX;
	if (v >= 0x1p63)
		return INT64_MAX;
	return v > -0x1p63 ? (int64_t)v : INT64_MIN;
}

/** Store element @i of @p, rounded to the type; truncated for integers. */
static inline void msd_row_put(struct msd_dtype dtype, void *p, size_t i, double v)
{
	if (msd_row_is_single(dtype)) {
		((float *)p)[i] = (float)v;
		return;
	}
	const enum msd_number_kind kind = msd_number_kind(dtype);
	if (kind == MSD_N_FLOAT) {
		msd_number_store_float(dtype, p, (int64_t)i, v);
	} else {
		msd_number_store(dtype, p, (int64_t)i, msd_row_whole(kind, v));
	}
}

/** Load @n elements from @first on with a stride of @step. */
void msd_row_load(struct msd_dtype dtype, const void *p, int64_t first, int64_t step,
		  size_t n, double *ret);
/** The same for elements that are no floats, exactly; bits of a uint64. */
void msd_row_load_whole(struct msd_dtype dtype, const void *p, int64_t first,
			int64_t step, size_t n, int64_t *ret);
/** Store @n consecutive elements. */
void msd_row_store_whole(struct msd_dtype dtype, void *p, size_t first, size_t n,
			 const int64_t *from);
void msd_row_store(struct msd_dtype dtype, void *p, size_t first, size_t n,
		   const double *from);

#endif
