#ifndef MSD_CLI_BRACKET_H
#define MSD_CLI_BRACKET_H
/*
 * A tensor that is written out: [1.0, 2.0], [[1, 2], [3, 4]], [true, false]. It tells
 * its shape, and not its dtype: the function's signature does, or who writes it.
 */
#include "proto/diag.h"
#include "proto/dtype.h"

struct msd_bracket {
	uint32_t ndim; /* 0: there is none */
	int64_t shape[MSD_MAX_NDIM];
	struct msd_span *items; /* of the text, row-major; owned */
	size_t n;
};

/** Parse @text, which must outlive @ret. End with msd_bracket_finish() in any case.
 * Errors: MSD_BAD_REQUEST, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_bracket_parse(const char *text, struct msd_bracket *ret,
					 struct msd_diag *d);
/** The elements as @t: *@ret is the caller's to free. Errors: MSD_BAD_REQUEST (one that
 * is no such number, or beyond it), MSD_UNSUPPORTED (the dtype), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_bracket_make(const struct msd_bracket *b, struct msd_dtype t,
					void **ret, struct msd_diag *d);
void msd_bracket_finish(struct msd_bracket *b); /* zeroed is fine */

#endif
