#ifndef MSD_CLI_ADVICE_H
#define MSD_CLI_ADVICE_H
/* What to write in place of arguments that a function does not take: an edit of the
 * words that were written, not a place to look it up. */
#include "client/cli/arguments.h"
#include "client/cli/parameters.h"
#include "proto/bytes.h"

/** Append what to do about the first of @a that does not fit what @s says of @target,
 * "module:function", or about there being too few or too many of them. False: all fit,
 * or nothing is known. */
bool msd_advice_put(struct msd_buf *out, const struct msd_arguments *a,
		    const struct msd_parameters *s, const char *target);

#endif
