#include "daemon/wire/block.h"

#include <stdlib.h>

struct msd_block *msd_block_create(uint64_t bytes)
{
	struct msd_block *b = calloc(1, sizeof(*b));

	if (b != NULL)
		b->bytes = bytes;
	return b;
}

void msd_blocks_destroy(struct msd_block *first)
{
	while (first != NULL) {
		struct msd_block *b = first;
		first = b->next;
		free(b);
	}
}

bool msd_block_claim(struct msd_block *b, uint64_t bytes)
{
	if (b->bytes > bytes) {
		struct msd_block *rest = msd_block_create(b->bytes - bytes);
		if (rest == NULL)
			return false;
		rest->offset = b->offset + bytes;
		rest->prev = b;
		rest->next = b->next;
		if (b->next != NULL)
			b->next->prev = rest;
		b->next = rest;
		b->bytes = bytes;
	}
	b->is_live = true;
	return true;
}

struct msd_block *msd_block_live_at(struct msd_block *first, uint64_t offset)
{
	struct msd_block *b = first;

	while (b != NULL && b->offset < offset)
		b = b->next;
	return b != NULL && b->offset == offset && b->is_live ? b : NULL;
}

/* Join @b with a free block after it. */
static void join_next(struct msd_block *b)
{
	struct msd_block *gone = b->next;

	if (gone == NULL || gone->is_live || b->is_live)
		return;
	b->bytes += gone->bytes;
	b->next = gone->next;
	if (gone->next != NULL)
		gone->next->prev = b;
	free(gone);
}

void msd_block_free(struct msd_block *b)
{
	b->is_live = false;
	join_next(b);
	if (b->prev != NULL)
		join_next(b->prev);
}
