#ifndef MSD_GRAPH_LAYOUT_ARENA_H
#define MSD_GRAPH_LAYOUT_ARENA_H
/*
 * Assign tensors offsets in one memory block. A tensor lives from the step that
 * produces it to the step that reads it last, and takes the first gap that is wide
 * enough.
 */
#include <stdbool.h>
#include <stddef.h>

#include "proto/base/err.h"

#define MSD_ARENA_ALIGN ((size_t)64)
#define MSD_ARENA_KEEP SIZE_MAX          /* as last step: never freed */
#define MSD_ARENA_NOWHERE (SIZE_MAX - 1) /* as last step: it needs no memory */

/** Memory for a tensor, to be freed with free(), also for 0 bytes. NULL: it is short.
 */
void *msd_arena_aligned_alloc(size_t bytes);

struct msd_arena_place {
	size_t offset;
	size_t bytes;
	size_t first; /* step that writes it first; read by msd_arena_pack() */
	size_t last;  /* step that reads it last */
};

struct msd_arena {
	struct msd_arena_place *places; /* one for each tensor, owned by the caller */
	size_t *live; /* tensors placed now, sorted by offset; owned by the caller */
	size_t n_live;
	size_t bytes; /* total so far */
};

/**
 * Find an offset for @tensor, whose `bytes` and `last` are set. False: it does not
 * fit into memory.
 */
MSD_MUST_CHECK bool msd_arena_put(struct msd_arena *a, size_t tensor);
/**
 * Find offsets for @n tensors at once, the largest first, in @places. The arena is
 * often smaller than with msd_arena_put(), and the time grows with the square of @n.
 * *@ret_bytes is the total. False: memory is short, or they do not fit into it.
 */
MSD_MUST_CHECK bool msd_arena_pack(struct msd_arena_place *places, size_t n,
				   size_t *ret_bytes);
/** Finish step @step: free the tensors that it reads last. */
void msd_arena_drop(struct msd_arena *a, size_t step);

#endif
