#ifndef MSD_RUNTIME_VALUE_SMALL_H
#define MSD_RUNTIME_VALUE_SMALL_H
/*
 * Elements of types that processors do not compute with. They are 8-bit floats (OCP's
 * and the variants without infinities, fn, and without a negative zero, uz) and 4-bit
 * integers. Two of these integers share a byte, the first in the lower half. They are
 * loaded and stored one by one; computations use wider types.
 */
#include "proto/dtype.h"

/**
 * True if @dtype is float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz,
 * int4 or uint4.
 */
bool msd_small_is(struct msd_dtype dtype);
/** Element @i of compact data at @p; exact. */
double msd_small_load(struct msd_dtype dtype, const void *p, size_t i);
/**
 * Store @v as element @i, rounded to the nearest, ties to even. If @saturates, a
 * value that is too large becomes the largest number. Otherwise it becomes infinity,
 * or NaN if the type has no infinity. Integers always saturate, and NaN becomes 0.
 * One thread must store all elements that share a byte.
 */
void msd_small_store(struct msd_dtype dtype, void *p, size_t i, double v,
		     bool saturates);

#endif
