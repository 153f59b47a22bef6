#ifndef MSD_CLI_SCALAR_H
#define MSD_CLI_SCALAR_H
/* Numbers and texts as arguments: checks whether a parameter accepts one, and formats
 * a corrected one. */
#include "client/modser.h"
#include "proto/base/bytes.h"

/**
 * True if @v, not a tensor, has a kind that @param accepts, or if the kind is
 * unknown.
 */
bool msd_scalar_fits(const modser_value *v, const modser_value *param);
/**
 * Append the corrected word for @param in place of @v: the same number if possible,
 * else an example of that kind.
 */
void msd_scalar_put(struct msd_buf *out, const modser_value *v,
		    const modser_value *param);

#endif
