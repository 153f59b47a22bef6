#ifndef MSD_RUNTIME_VALUE_ELEMENT_H
#define MSD_RUNTIME_VALUE_ELEMENT_H

#include "proto/dtype.h"
/* Tensor elements with a dtype that is known only at the call: read as a number of a
 * few kinds, or as a sort key. */

enum msd_number_kind {
	MSD_N_NONE, /* not a number, or a type that we do not read */
	MSD_N_INT,
	MSD_N_UINT64, /* also above INT64_MAX: .i holds the bits */
	MSD_N_FLOAT,
};
union msd_number {
	int64_t i;
	double f;
};

/**
 * How elements of @dtype are read: bool and integers of 8 to 64 bits, float16,
 * bfloat16, float32 and float64. MSD_N_NONE for other dtypes and for vectors.
 */
enum msd_number_kind msd_number_kind(struct msd_dtype dtype);
/** Element @i of compact data at @p; exact. @dtype must have a kind. */
union msd_number msd_number_load(struct msd_dtype dtype, const void *p, int64_t i);
/** Element @i as an integer; false if @dtype is not an integer type. */
MSD_MUST_CHECK bool msd_number_int(struct msd_dtype dtype, const void *p, int64_t i,
				   int64_t *ret);
/** Store an integer as element @i. @dtype must have a kind. */
void msd_number_store(struct msd_dtype dtype, void *p, int64_t i, int64_t v);
/** Store a float as element @i, rounded to nearest. @dtype must be of the float kind.
 */
void msd_number_store_float(struct msd_dtype dtype, void *p, int64_t i, double v);
/**
 * The limits of @dtype, which must have a kind; infinities for floats. They are the
 * initial values of max and min over no elements.
 */
union msd_number msd_number_lowest(struct msd_dtype dtype);
union msd_number msd_number_highest(struct msd_dtype dtype);
/**
 * A key for a total order: numbers in numeric order, -0 equal to 0, all NaNs equal
 * and after the numbers (MSD_KEY_NAN).
 */
int64_t msd_number_key(enum msd_number_kind kind, union msd_number v);
#define MSD_KEY_NAN INT64_MAX /* floats only */

#endif
