#ifndef MSD_RUNTIME_VALUE_SMALL_H
#define MSD_RUNTIME_VALUE_SMALL_H
/*
 * Elements that no processor computes with: floats of 8 bits (OCP's and their relatives
 * without infinities, fn, and without a negative zero, uz) and integers of 4, two of
 * which share a byte, the first in its lower half. They are read and made one by one;
 * all else goes by wider ones.
 */
#include "proto/dtype.h"

/** Is @dtype float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, int4 or
 * uint4? */
bool msd_small_is(struct msd_dtype dtype);
/** Element @i of compact data at @p; exact. */
double msd_small_load(struct msd_dtype dtype, const void *p, size_t i);
/**
 * Store @v as element @i, rounded to the nearest, ties to even. What is too large
 * becomes the largest number, as it always does for integers, whose NaN is 0; not
 * @saturates: infinite, or NaN where the type has no infinity. Elements that share a
 * byte are stored by one thread.
 */
void msd_small_store(struct msd_dtype dtype, void *p, size_t i, double v,
		     bool saturates);

#endif
