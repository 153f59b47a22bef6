#ifndef MSD_RUNTIME_PLAN_ALLOCATOR_H
#define MSD_RUNTIME_PLAN_ALLOCATOR_H
/* The memory of tensors between nodes. An engine for a device brings its own. */
#include <stddef.h>
#include <stdint.h>

#include "proto/base/diag.h"

struct msd_allocator {
	/* At least @bytes, aligned for any kernel; NULL: memory is short. */
	void *(*allocate)(const struct msd_allocator *a, size_t bytes);
	void (*release)(const struct msd_allocator *a, void *p); /* NULL is fine */
};
/** The host's memory. */
extern const struct msd_allocator msd_allocator_host;

/* One block that is shared by runs of all shapes. */
struct msd_arena_block {
	const struct msd_allocator *allocator;
	uint8_t *p; /* NULL: not allocated */
	size_t bytes;
};

/** Let the block have at least @bytes; the contents of a smaller one are lost. */
MSD_MUST_CHECK msd_err msd_arena_block_grow(struct msd_arena_block *b, size_t bytes,
					    struct msd_diag *d);
void msd_arena_block_finish(struct msd_arena_block *b);

#endif
