#ifndef MSD_CLI_SCALAR_H
#define MSD_CLI_SCALAR_H
/* Numbers and texts as arguments: whether a parameter takes one, and how it is written.
 */
#include "client/modser.h"
#include "proto/bytes.h"

/** Is @v of a kind that @param takes, which is no tensor? What is not known, is. */
bool msd_scalar_fits(const modser_value *v, const modser_value *param);
/** Append what is written for @param in place of @v: the same number where it can be,
 * else what an argument of that kind looks like. */
void msd_scalar_put(struct msd_buf *out, const modser_value *v,
		    const modser_value *param);

#endif
