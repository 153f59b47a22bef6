#ifndef MSD_GRAPH_LAYOUT_ARENA_H
#define MSD_GRAPH_LAYOUT_ARENA_H
/*
 * Places of tensors in one block of memory: each from the step that makes it to the
 * last that reads it, in the first gap that is wide enough.
 */
#include <stdbool.h>
#include <stddef.h>

#include "proto/err.h"

#define MSD_ARENA_ALIGN ((size_t)64)
#define MSD_ARENA_KEEP SIZE_MAX /* a last step: none, it stays */

struct msd_arena_place {
	size_t offset;
	size_t bytes;
	size_t last; /* step that reads it last */
};

struct msd_arena {
	struct msd_arena_place *places; /* of all tensors, the caller's */
	size_t *live; /* those that lie there now, by their offsets; the caller's */
	size_t n_live;
	size_t bytes; /* of the whole, so far */
};

/** Find a place for @tensor, whose `bytes` and `last` are set. False: it does not fit
 * into memory. */
MSD_MUST_CHECK bool msd_arena_put(struct msd_arena *a, size_t tensor);
/** Step @step is done: what it read last goes. */
void msd_arena_drop(struct msd_arena *a, size_t step);

#endif
