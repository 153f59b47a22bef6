#ifndef MSD_RUNTIME_ENGINE_ROW_H
#define MSD_RUNTIME_ENGINE_ROW_H
/*
 * Elements of any type of floats as double, in which kernels compute, and back: one by
 * one or in rows. Those of float32, which most models have, are read without a call.
 */
#include "proto/dtype.h"
#include "runtime/value/element.h"

static inline bool msd_row_is_single(struct msd_dtype dtype)
{
	return dtype.code == MSD_DT_FLOAT && dtype.bits == 32;
}

/** Element @i of @p; integers are as near as a double is. */
static inline double msd_row_at(struct msd_dtype dtype, const void *p, size_t i)
{
	if (msd_row_is_single(dtype))
		return (double)((const float *)p)[i];
	const union msd_number v = msd_number_load(dtype, p, (int64_t)i);
	return msd_number_kind(dtype) == MSD_N_FLOAT ? v.f : (double)v.i;
}

/** Store element @i of @p, rounded to the type; integers lose what is behind the point.
 */
static inline void msd_row_put(struct msd_dtype dtype, void *p, size_t i, double v)
{
	if (msd_row_is_single(dtype)) {
		((float *)p)[i] = (float)v;
	} else if (msd_number_kind(dtype) == MSD_N_FLOAT) {
		msd_number_store_float(dtype, p, (int64_t)i, v);
	} else {
		msd_number_store(dtype, p, (int64_t)i, (int64_t)v);
	}
}

/** @n elements from @first on, each @step behind the one before. */
void msd_row_load(struct msd_dtype dtype, const void *p, int64_t first, int64_t step,
		  size_t n, double *ret);
/** Store @n elements one behind the other. */
void msd_row_store(struct msd_dtype dtype, void *p, size_t first, size_t n,
		   const double *from);

#endif
