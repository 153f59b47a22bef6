#ifndef MSD_CLI_GENERATED_H
#define MSD_CLI_GENERATED_H
/* Generates tensors without a file, for a first call or if only the shape matters. */
#include "proto/base/diag.h"
#include "proto/dtype.h"

enum msd_generated_with {
	MSD_GENERATED_ZEROS,
	MSD_GENERATED_ONES,
	MSD_GENERATED_RANDOM /* floats in [0, 1), integers 0 to 9, bools */
};

/** True if ones and random elements of @t can be made, and not only zeros. */
bool msd_generated_has(struct msd_dtype t);
/**
 * Fill @bytes at @data with elements of @t. Random elements are the same in every
 * run; the sequence continues from tensor to tensor. Errors: MSD_UNSUPPORTED, for
 * types that support only zeros.
 */
MSD_MUST_CHECK msd_err msd_generated_make(struct msd_dtype t,
					  enum msd_generated_with with, uint8_t *data,
					  uint64_t bytes, struct msd_diag *d);

#endif
