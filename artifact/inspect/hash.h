#ifndef MSD_ARTIFACT_INSPECT_HASH_H
#define MSD_ARTIFACT_INSPECT_HASH_H
/* The hashes that `modser inspect` shows. The daemon never hashes; only programs that
 * include this link with nettle. */
#include "artifact/inspect/inspect.h"

/** Fill in the hash of @file, the source of @i, and of each module's payload. */
void msd_inspect_hash(struct msd_inspect *i, struct msd_span file);

#endif
