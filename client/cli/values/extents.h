#ifndef MSD_CLI_EXTENTS_H
#define MSD_CLI_EXTENTS_H
/* Determines the extents of a tensor argument, from the signature and from the other
 * arguments. */
#include "client/cli/values/arguments.h"
#include "client/cli/values/parameters.h"
#include "proto/base/bytes.h"

struct msd_extents {
	uint32_t ndim;
	int64_t dim[MSD_MAX_NDIM];
};

/**
 * Extents of argument @i, for @param of @s. An open extent takes the value of its
 * name in the other arguments, else the argument's own, else 1. False: the rank is
 * unknown.
 */
bool msd_extents_wanted(struct msd_extents *ret, const struct msd_arguments *a,
			const struct msd_parameters *s, size_t i,
			const modser_value *param);
/** Append them in the form of a word: "[2,3]". */
void msd_extents_put(struct msd_buf *out, const struct msd_extents *x);
/** True if @t fits @param, as far as that is known. */
bool msd_extents_fit(const modser_value *param, const modser_tensor *t);
/** True if @t has the same extents in the same order, ignoring extents of 1. */
bool msd_extents_same_but_ones(const struct msd_extents *x, const modser_tensor *t);

#endif
