#ifndef MSD_RUNTIME_KV_BLOCKS_H
#define MSD_RUNTIME_KV_BLOCKS_H
/*
 * Blocks: runs of pages that belong together. A sequence is a chain of blocks from its
 * last one over its parents. Sequences with a common beginning share blocks. Only the
 * last block of a chain may have a page that is partly filled.
 */
#include "runtime/kv/ints.h"

#define MSD_KV_NO_BLOCK (-1)

struct msd_kv_block {
	struct msd_ints pages;
	int32_t length; /* tokens in it */
	int32_t start;  /* position of its first token, for rotary embedding */
	int32_t sink;   /* tokens at its beginning that stay when a window slides */
	int32_t offset; /* first slot behind the sink that the window uses */
	int32_t parent; /* MSD_KV_NO_BLOCK: it is the first of its chain */
	int32_t refs;   /* sequences that end in it, and blocks behind it */
};

struct msd_kv_blocks {
	struct msd_kv_block *v;
	size_t n;
	size_t cap;
	struct msd_ints unused;
};

void msd_kv_blocks_finish(struct msd_kv_blocks *b);
void msd_kv_blocks_clear(struct msd_kv_blocks *b);
/** Make room for @more blocks; false if memory is short. */
MSD_MUST_CHECK bool msd_kv_blocks_reserve(struct msd_kv_blocks *b, size_t more);
/** An empty block without references. There must be room for it. Blocks may move. */
int32_t msd_kv_blocks_take(struct msd_kv_blocks *b);
/** The block has no pages any more. */
void msd_kv_blocks_release(struct msd_kv_blocks *b, int32_t block);
static inline struct msd_kv_block *msd_kv_block_at(const struct msd_kv_blocks *b,
						   int32_t i)
{
	return &b->v[i];
}

#endif
