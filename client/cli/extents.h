#ifndef MSD_CLI_EXTENTS_H
#define MSD_CLI_EXTENTS_H
/* The extents that a tensor should have, of what a signature says of it and of the
 * other arguments. */
#include "client/cli/arguments.h"
#include "client/cli/parameters.h"
#include "proto/bytes.h"

struct msd_extents {
	uint32_t ndim;
	int64_t dim[MSD_MAX_NDIM];
};

/** Those of argument @i, for @param of @s: what the signature leaves open is as in the
 * other arguments, by the name that the signature gives it, else as the argument has
 * it; else 1. False: its rank is not known. */
bool msd_extents_wanted(struct msd_extents *ret, const struct msd_arguments *a,
			const struct msd_parameters *s, size_t i,
			const modser_value *param);
/** Append them as a word has them: "[2,3]". */
void msd_extents_put(struct msd_buf *out, const struct msd_extents *x);
/** Has @t what @param wants, as far as that is known? */
bool msd_extents_fit(const modser_value *param, const modser_tensor *t);
/** Has @t the same extents in the same order, those that are 1 apart? */
bool msd_extents_same_but_ones(const struct msd_extents *x, const modser_tensor *t);

#endif
