#ifndef MSD_SUPERVISOR_GLOB_H
#define MSD_SUPERVISOR_GLOB_H
/* Patterns of names: `*` is any bytes, also none, `?` is one. */
#include "proto/bytes.h"

/** Does @glob stand for all of @text? Takes no more than the product of their lengths,
 * whatever they are. */
bool msd_glob_match(struct msd_span glob, struct msd_span text);

#endif
