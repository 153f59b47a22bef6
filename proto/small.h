#ifndef MSD_PROTO_SMALL_H
#define MSD_PROTO_SMALL_H
/*
 * Elements of types that processors do not compute with. They are floats of 8 bits
 * (OCP's and the variants without infinities, fn, and without a negative zero, uz; a
 * power of two, e8m0), of 6 and of 4 bits, and integers of 4 and of 2 bits. Elements
 * of less than 8 bits share bytes, the first in the lowest bits. They are loaded and
 * stored one by one; computations use wider types.
 */
#include "proto/dtype.h"

/** True if @dtype is a float of 8 bits or less, or an integer of 2 or 4 bits. */
bool msd_small_is(struct msd_dtype dtype);
/** True for the integers of these. */
bool msd_small_is_integer(struct msd_dtype dtype);
/** Element @i of compact data at @p; exact. */
double msd_small_load(struct msd_dtype dtype, const void *p, size_t i);
/**
 * Store @v as element @i, rounded to the nearest, ties to even; a power of two is
 * rounded up. If @saturates, a value that is too large becomes the largest number.
 * Otherwise it becomes infinity, or NaN if the type has no infinity. Integers and
 * types without NaN always saturate; NaN becomes 0 in integers, and a negative zero
 * in floats without NaN. One thread must store all elements that share a byte.
 */
void msd_small_store(struct msd_dtype dtype, void *p, size_t i, double v,
		     bool saturates);
/** Store the lowest bits of @v as element @i. */
void msd_small_store_bits(struct msd_dtype dtype, void *p, size_t i, uint64_t v);

#endif
