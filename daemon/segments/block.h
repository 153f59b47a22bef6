#ifndef MSD_WIRE_BLOCK_H
#define MSD_WIRE_BLOCK_H
/*
 * Used and free parts of one segment: blocks in address order, which cover it without
 * gaps. Two free blocks are never neighbours. A peer decides how many there are: a
 * call may have a thousand results, each a block until it is read. So no lookup walks
 * the list. A tree with random shape (heights by rank) finds blocks, and each block
 * stores the size of the largest free block below it.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_block {
	struct msd_block *prev, *next;
	uint64_t offset;
	uint64_t bytes;
	bool is_live;
	void *owner; /* live blocks only; set by the user of the block */
	/* private: tree links */
	struct msd_block *up, *before, *after;
	uint64_t rank;
	uint64_t most; /* bytes of the largest free block in this subtree */
};

struct msd_blocks {
	struct msd_block *first; /* owned, with all blocks behind it; NULL: empty */
	struct msd_block *root;
	struct msd_block *spare; /* owned: freed blocks for reuse */
	uint32_t n_spare;
	uint64_t chance; /* begins as an address, which no peer knows */
};

/** Make one free block of @bytes. False if memory is short; nothing has changed. */
bool msd_blocks_init(struct msd_blocks *s, uint64_t bytes);
/** Free all blocks. */
void msd_blocks_finish(struct msd_blocks *s);
/** Return the first free block of at least @bytes, or NULL. */
struct msd_block *msd_blocks_fit(const struct msd_blocks *s, uint64_t bytes);
/** Return the live block that begins at @offset, or NULL. */
struct msd_block *msd_blocks_live_at(const struct msd_blocks *s, uint64_t offset);
/**
 * Make the first @bytes of free block @b live; the rest stays free. False if memory
 * is short; nothing has changed.
 */
bool msd_block_claim(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/**
 * Shrink live block @b to its first @bytes; the rest becomes free. False if memory is
 * short; nothing has changed.
 */
bool msd_block_cut(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/**
 * Grow live block @b to @bytes, from the free block behind it. False if that block is
 * too small, or memory is short; nothing has changed.
 */
bool msd_block_widen(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/** Free a live block; it may be merged into the block before it. */
void msd_block_free(struct msd_blocks *s, struct msd_block *b);

#endif
