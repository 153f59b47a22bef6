#ifndef MSD_WIRE_BLOCK_H
#define MSD_WIRE_BLOCK_H
/*
 * What is used and free of one segment: blocks in the order of their addresses, which
 * cover it without gaps; no two free ones are neighbours. They are as many as a peer
 * makes them (a call may have a thousand results, each a block until somebody has read
 * it), so none is looked for by a walk: they are in a tree, too, whose shape is by
 * chance (heights by rank), and each knows the largest free one below it.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_block {
	struct msd_block *prev, *next;
	uint64_t offset;
	uint64_t bytes;
	bool is_live;
	void *owner; /* of a live one, as its user has set it */
	/* private: of the tree */
	struct msd_block *up, *before, *after;
	uint64_t rank;
	uint64_t most; /* bytes of the largest free one of it and those below */
};

struct msd_blocks {
	struct msd_block *first; /* owned, as all behind it; NULL: there are none */
	struct msd_block *root;
	struct msd_block *spare; /* owned: ended, for those to come */
	uint32_t n_spare;
	uint64_t chance;
};

/** One free block of @bytes. False when memory is short: nothing has changed. */
bool msd_blocks_init(struct msd_blocks *s, uint64_t bytes);
/** All die. */
void msd_blocks_finish(struct msd_blocks *s);
/** The first free block of at least @bytes, or NULL. */
struct msd_block *msd_blocks_fit(const struct msd_blocks *s, uint64_t bytes);
/** The live block that begins at @offset, or NULL. */
struct msd_block *msd_blocks_live_at(const struct msd_blocks *s, uint64_t offset);
/** Make the first @bytes of free block @b live; the rest stays free. False when memory
 * is short: nothing has changed. */
bool msd_block_claim(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/** Live block @b keeps its first @bytes; the rest is free. False when memory is short:
 * nothing has changed. */
bool msd_block_cut(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/** Live block @b has @bytes, of the free block behind it. False: that has not so many,
 * or memory is short; nothing has changed. */
bool msd_block_widen(struct msd_blocks *s, struct msd_block *b, uint64_t bytes);
/** A live block is free again; it may become part of the one before it. */
void msd_block_free(struct msd_blocks *s, struct msd_block *b);

#endif
