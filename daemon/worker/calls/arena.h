#ifndef MSD_WORKER_ARENA_H
#define MSD_WORKER_ARENA_H
/* Memory of one call: many small pieces, freed together. Pieces never move. The first
 * chunk is kept, so that a usual call allocates nothing. */
#include <stddef.h>

struct msd_arena_chunk;
struct msd_arena {
	struct msd_arena_chunk *first; /* owned chain, newest last */
	struct msd_arena_chunk *last;
};

/** Allocate @n bytes aligned to 16, zeroed; NULL if memory is short. */
void *msd_arena_alloc(struct msd_arena *a, size_t n);
/** Free every piece. */
void msd_arena_reset(struct msd_arena *a);
void msd_arena_finish(struct msd_arena *a);

#endif
