#include "runtime/kv/blocks.h"

#include <stdlib.h>

#include "proto/base/grow.h"

void msd_kv_blocks_finish(struct msd_kv_blocks *b)
{
	for (size_t i = 0; i < b->n; i++)
		msd_ints_finish(&b->v[i].pages);
	free(b->v);
	msd_ints_finish(&b->unused);
	*b = (struct msd_kv_blocks){0};
}

void msd_kv_blocks_clear(struct msd_kv_blocks *b)
{
	for (size_t i = 0; i < b->n; i++)
		msd_ints_finish(&b->v[i].pages);
	b->n = 0;
	b->unused.n = 0;
}

bool msd_kv_blocks_reserve(struct msd_kv_blocks *b, size_t more)
{
	const size_t want = b->n + more;

	/* Every block may become unused, and that must not fail. */
	return want <= INT32_MAX / 2 &&
	       msd_reserve(&b->v, &b->cap, want, sizeof(*b->v)) &&
	       msd_reserve(&b->unused.v, &b->unused.cap, b->cap, sizeof(*b->unused.v));
}

int32_t msd_kv_blocks_take(struct msd_kv_blocks *b)
{
	const int32_t i =
		b->unused.n > 0 ? b->unused.v[--b->unused.n] : (int32_t)b->n++;

	b->v[i] = (struct msd_kv_block){.parent = MSD_KV_NO_BLOCK};
	return i;
}

void msd_kv_blocks_release(struct msd_kv_blocks *b, int32_t block)
{
	msd_ints_finish(&b->v[block].pages);
	/* there is room for all blocks */
	b->unused.v[b->unused.n++] = block;
}
