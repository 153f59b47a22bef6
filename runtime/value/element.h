#ifndef MSD_RUNTIME_VALUE_ELEMENT_H
#define MSD_RUNTIME_VALUE_ELEMENT_H

#include "proto/dtype.h"
/*
 * Elements of tensors whose dtype is known only when a call comes: read as a number of
 * one of two kinds, or as a key that sorts.
 */

enum msd_number_kind {
	MSD_N_NONE, /* no number, or one that we do not read */
	MSD_N_INT,
	MSD_N_UINT64, /* above INT64_MAX too: .i holds the bits */
	MSD_N_FLOAT,
};
union msd_number {
	int64_t i;
	double f;
};

/** How elements of @dtype are read: bool and integers of 8 to 64 bits, float16,
 * bfloat16, float32 and float64; MSD_N_NONE for others and for vectors. */
enum msd_number_kind msd_number_kind(struct msd_dtype dtype);
/** Element @i of compact data at @p; exact. @dtype has a kind. */
union msd_number msd_number_load(struct msd_dtype dtype, const void *p, int64_t i);
/** Element @i as an integer; false when @dtype has no integers. */
MSD_MUST_CHECK bool msd_number_int(struct msd_dtype dtype, const void *p, int64_t i,
				   int64_t *ret);
/** Store an integer as element @i; @dtype has a kind. */
void msd_number_store(struct msd_dtype dtype, void *p, int64_t i, int64_t v);
/** Store a float as element @i, rounded to nearest; @dtype has the kind of floats. */
void msd_number_store_float(struct msd_dtype dtype, void *p, int64_t i, double v);
/** The ends of what @dtype, which has a kind, can be: infinities of floats. They are
 * what the largest and the smallest of no elements are. */
union msd_number msd_number_lowest(struct msd_dtype dtype);
union msd_number msd_number_highest(struct msd_dtype dtype);
/** A key for a total order: as the numbers compare, with -0 the same as 0 and every NaN
 * the same, behind all others (MSD_KEY_NAN). */
int64_t msd_number_key(enum msd_number_kind kind, union msd_number v);
#define MSD_KEY_NAN INT64_MAX /* of floats only */

#endif
