#include "runtime/plan/allocator.h"

#include <stdlib.h>

#include "graph/layout/arena.h"

static void *allocate(const struct msd_allocator *a, size_t bytes)
{
	(void)a;
	return msd_arena_aligned_alloc(bytes);
}

static void release(const struct msd_allocator *a, void *p)
{
	(void)a;
	free(p);
}

const struct msd_allocator msd_allocator_host = {allocate, release};

msd_err msd_arena_block_grow(struct msd_arena_block *b, size_t bytes,
			     struct msd_diag *d)
{
	if (b->p != NULL && bytes <= b->bytes)
		return MSD_OK;
	msd_arena_block_finish(b);
	b->p = b->allocator->allocate(b->allocator, bytes);
	if (b->p == NULL) {
		return msd_diag_set(d, MSD_NOMEM,
				    "a run needs %zu bytes of memory, which are not "
				    "available",
				    bytes);
	}
	b->bytes = bytes;
	return MSD_OK;
}

void msd_arena_block_finish(struct msd_arena_block *b)
{
	if (b->p != NULL)
		b->allocator->release(b->allocator, b->p);
	b->p = NULL;
	b->bytes = 0;
}
