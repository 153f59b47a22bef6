#ifndef MSD_SUPERVISOR_GLOB_H
#define MSD_SUPERVISOR_GLOB_H
/* Patterns of names: `*` is any bytes, also none, `?` is one. */
#include "proto/bytes.h"

/** Does @glob stand for all of @text? Takes no more than the product of their lengths,
 * whatever they are. */
bool msd_glob_match(struct msd_span glob, struct msd_span text);
/** Make a row of stars one star, in place: the bytes must be the caller's own. False:
 * no text of at most @max bytes is so long that @g could stand for it. */
MSD_MUST_CHECK bool msd_glob_shorten(struct msd_span *g, size_t max);

#endif
