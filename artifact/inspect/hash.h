#ifndef MSD_ARTIFACT_INSPECT_HASH_H
#define MSD_ARTIFACT_INSPECT_HASH_H
/* The hashes that `modser inspect` shows. The daemon never hashes, and only what
 * includes this is linked to nettle. */
#include "artifact/inspect/inspect.h"

/** Fill in the hash of @file, of which @i was read, and of each module's payload. */
void msd_inspect_hash(struct msd_inspect *i, struct msd_span file);

#endif
