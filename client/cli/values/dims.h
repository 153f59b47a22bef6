#ifndef MSD_CLI_DIMS_H
#define MSD_CLI_DIMS_H
/* Extents as text, "[2, 3]"; "[]" for rank 0. Spaces are allowed. */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/bytes.h"
#include "proto/dtype.h"

/**
 * Parse the whole @text into @shape. False: the form is wrong, and @shape is
 * undefined.
 */
bool msd_dims_parse(const char *text, int64_t shape[static MSD_MAX_NDIM],
		    uint32_t *ret_ndim);
/** Append the @ndim extents @dim. */
void msd_dims_put(struct msd_buf *out, const int64_t *dim, uint32_t ndim);

#endif
