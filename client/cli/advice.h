#ifndef MSD_CLI_ADVICE_H
#define MSD_CLI_ADVICE_H
/* Suggests corrected arguments for a function call: an edit of the words as typed,
 * not a reference to documentation. */
#include "client/cli/values/arguments.h"
#include "client/cli/values/parameters.h"
#include "proto/base/bytes.h"

/**
 * Append advice for the first argument of @a that does not fit the signature @s of
 * @target, "module:function", or for a wrong number of arguments. False: all fit, or
 * the signature is unknown.
 */
bool msd_advice_put(struct msd_buf *out, const struct msd_arguments *a,
		    const struct msd_parameters *s, const char *target);

#endif
