#ifndef MSD_CLI_BRACKET_H
#define MSD_CLI_BRACKET_H
/* A tensor literal: [1.0, 2.0], [[1, 2], [3, 4]], [true, false]. It has a shape but
 * no dtype; the dtype is in the function's signature, or the user writes it. */
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_bracket {
	uint32_t ndim; /* 0: no literal */
	int64_t shape[MSD_MAX_NDIM];
	struct msd_span *items; /* parts of the text, row-major; owned */
	size_t n;
};

/**
 * Parse @text, which must outlive @ret. End with msd_bracket_finish() in any case.
 * Errors: MSD_BAD_REQUEST, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_bracket_parse(const char *text, struct msd_bracket *ret,
					 struct msd_diag *d);
/**
 * Convert the elements to @t; the caller frees *@ret. Errors: MSD_BAD_REQUEST (an
 * element is not such a number, or out of range), MSD_UNSUPPORTED (the dtype),
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_bracket_make(const struct msd_bracket *b, struct msd_dtype t,
					void **ret, struct msd_diag *d);
void msd_bracket_finish(struct msd_bracket *b); /* zeroed is fine */

#endif
