#ifndef MSD_PROTO_NEAR_H
#define MSD_PROTO_NEAR_H
/*
 * The name that somebody may have meant who wrote one that there is not. What is looked
 * at costs some thousand steps a name, so that no more than MSD_NEAR_MOST are.
 */
#include "proto/bytes.h"

#define MSD_NEAR_BYTES 63u /* longer names are compared by their beginning */
#define MSD_NEAR_MOST 1024u

struct msd_near {
	struct msd_span name; /* what was written */
	struct msd_span best; /* of what was looked at; n is 0: none is near */
	unsigned score;
	unsigned n_looked;
};

/** How many bytes must be inserted, deleted or replaced to make @b of @a. */
unsigned msd_near_distance(struct msd_span a, struct msd_span b);
/** Begin to look for what @name may have meant; spans are borrowed. */
void msd_near_start(struct msd_near *near, struct msd_span name);
/** @candidate is one that there is. */
void msd_near_look(struct msd_near *near, struct msd_span candidate);

#endif
