#ifndef MSD_SUPERVISOR_GLOB_H
#define MSD_SUPERVISOR_GLOB_H
/* Name patterns: `*` matches any number of bytes, `?` matches one. */
#include "proto/base/bytes.h"

/**
 * True if @glob matches all of @text. The time is at most the product of the lengths.
 */
bool msd_glob_match(struct msd_span glob, struct msd_span text);
/**
 * Reduce each sequence of stars to one, in place. The caller must own the bytes.
 * False: no text of at most @max bytes can match @g.
 */
MSD_MUST_CHECK bool msd_glob_shorten(struct msd_span *g, size_t max);

#endif
