#ifndef MSD_PROTO_SPELLING_H
#define MSD_PROTO_SPELLING_H
/* Spelling suggestion for an unknown name. A comparison costs some thousand steps, so
 * at most MSD_SPELLING_MOST candidates are compared. */
#include "proto/base/bytes.h"

#define MSD_SPELLING_BYTES 63u /* longer names are compared by a prefix */
#define MSD_SPELLING_MOST 1024u

struct msd_spelling {
	struct msd_span name; /* the unknown name */
	struct msd_span best; /* best candidate so far; n is 0 if none is similar */
	unsigned score;
	unsigned n_looked;
};

/** Number of bytes to insert, delete or replace to turn @a into @b. */
unsigned msd_spelling_distance(struct msd_span a, struct msd_span b);
/** Start a search for @name; spans are borrowed. */
void msd_spelling_start(struct msd_spelling *near, struct msd_span name);
/** Compare @candidate, an existing name. */
void msd_spelling_look(struct msd_spelling *near, struct msd_span candidate);

#endif
