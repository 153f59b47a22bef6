#ifndef MSD_WIRE_BLOCK_H
#define MSD_WIRE_BLOCK_H
/*
 * What is used and free of one segment: blocks in the order of their addresses, which
 * cover it without gaps. They are few (requests in flight), so a walk is short. No two
 * free ones are neighbours.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_block {
	struct msd_block *prev, *next;
	uint64_t offset;
	uint64_t bytes;
	bool is_live;
};

/** One free block of @bytes, the first; NULL when memory is short. */
struct msd_block *msd_block_create(uint64_t bytes);
/** All from @first on. */
void msd_blocks_destroy(struct msd_block *first);
/** Make the first @bytes of free block @b live; the rest stays free. False when memory
 * is short: nothing has changed. */
bool msd_block_claim(struct msd_block *b, uint64_t bytes);
/** The live block that begins at @offset, or NULL. */
struct msd_block *msd_block_live_at(struct msd_block *first, uint64_t offset);
/** A live block is free again; it may become part of the one before it. */
void msd_block_free(struct msd_block *b);

#endif
