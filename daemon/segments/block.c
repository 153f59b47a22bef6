/* A treap with a list: ordered by address from left to right, by rank from top to
 * bottom. Each change updates the size of the largest free block up the tree. */
#include "daemon/segments/block.h"

#include <stdlib.h>

#include "proto/base/xorshift.h"

#define SPARES 64u

static uint64_t most_below(const struct msd_block *b)
{
	return b != NULL ? b->most : 0;
}

static uint64_t most_of(const struct msd_block *b)
{
	const uint64_t before = most_below(b->before), after = most_below(b->after);
	const uint64_t below = before > after ? before : after;

	return !b->is_live && b->bytes > below ? b->bytes : below;
}

/* Call after a change of @b or of a block below it. */
static void tell_up(struct msd_block *b)
{
	for (; b != NULL; b = b->up) {
		const uint64_t most = most_of(b);
		if (most == b->most)
			return;
		b->most = most;
	}
}

/* Put @b in the place of @was. */
static void replace(struct msd_blocks *s, struct msd_block *was, struct msd_block *b)
{
	struct msd_block *up = was->up;

	if (up == NULL) {
		s->root = b;
	} else if (up->before == was) {
		up->before = b;
	} else {
		up->after = b;
	}
	if (b != NULL)
		b->up = up;
}

/* Swap @b with its parent; the set of blocks below them is unchanged. */
static void rise(struct msd_blocks *s, struct msd_block *b)
{
	struct msd_block *up = b->up;
	struct msd_block **to = up->before == b ? &up->before : &up->after;
	struct msd_block **from = up->before == b ? &b->after : &b->before;

	replace(s, up, b);
	*to = *from;
	if (*to != NULL)
		(*to)->up = up;
	*from = up;
	up->up = b;
	b->most = up->most;
	up->most = most_of(up);
}

/* Insert @b into the tree; it is the block behind @at. */
static void put_behind(struct msd_blocks *s, struct msd_block *at, struct msd_block *b)
{
	struct msd_block *up = at;

	/* If @at has a right subtree, the next block in order has no left child. */
	if (at->after == NULL || b->next == NULL) {
		at->after = b;
	} else {
		up = b->next;
		up->before = b;
	}
	b->up = up;
	b->most = most_of(b);
	tell_up(up);
	while (b->up != NULL && b->up->rank < b->rank)
		rise(s, b);
}

static void take_out(struct msd_blocks *s, struct msd_block *b)
{
	while (b->before != NULL && b->after != NULL)
		rise(s, b->before->rank > b->after->rank ? b->before : b->after);
	struct msd_block *up = b->up;
	replace(s, b, b->before != NULL ? b->before : b->after);
	tell_up(up);
}

/* A call makes one for the rest of a gap, and the reader of its reply frees it: keep
 * some for reuse. */
static struct msd_block *new_block(struct msd_blocks *s)
{
	struct msd_block *b = s->spare;

	if (b == NULL)
		return calloc(1, sizeof(*b));
	s->spare = b->next;
	s->n_spare--;
	*b = (struct msd_block){0};
	return b;
}

static void end_block(struct msd_blocks *s, struct msd_block *b)
{
	if (s->n_spare == SPARES) {
		free(b);
		return;
	}
	b->next = s->spare;
	s->spare = b;
	s->n_spare++;
}

bool msd_blocks_init(struct msd_blocks *s, uint64_t bytes)
{
	struct msd_block *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return false;
	b->bytes = b->most = bytes;
	*s = (struct msd_blocks){
		.first = b, .root = b, .chance = (uint64_t)(uintptr_t)b};
	b->rank = msd_xorshift(&s->chance);
	return true;
}

static void free_all(struct msd_block *b)
{
	while (b != NULL) {
		struct msd_block *gone = b;
		b = b->next;
		free(gone);
	}
}

void msd_blocks_finish(struct msd_blocks *s)
{
	free_all(s->first);
	free_all(s->spare);
	*s = (struct msd_blocks){0};
}

struct msd_block *msd_blocks_fit(const struct msd_blocks *s, uint64_t bytes)
{
	struct msd_block *b = s->root;

	if (most_below(b) < bytes)
		return NULL;
	while (most_below(b->before) >= bytes || b->is_live || b->bytes < bytes)
		b = most_below(b->before) >= bytes ? b->before : b->after;
	return b;
}

struct msd_block *msd_blocks_live_at(const struct msd_blocks *s, uint64_t offset)
{
	struct msd_block *b = s->root;

	while (b != NULL && b->offset != offset)
		b = offset < b->offset ? b->before : b->after;
	return b != NULL && b->is_live ? b : NULL;
}

bool msd_block_claim(struct msd_blocks *s, struct msd_block *b, uint64_t bytes)
{
	struct msd_block *rest = NULL;

	if (b->bytes > bytes) {
		rest = new_block(s);
		if (rest == NULL)
			return false;
		rest->offset = b->offset + bytes;
		rest->bytes = b->bytes - bytes;
		rest->rank = msd_xorshift(&s->chance);
		rest->prev = b;
		rest->next = b->next;
		if (b->next != NULL)
			b->next->prev = rest;
		b->next = rest;
		b->bytes = bytes;
	}
	b->is_live = true;
	tell_up(b);
	if (rest != NULL)
		put_behind(s, b, rest);
	return true;
}

/* Extend @b by the block after it. */
static void absorb_next(struct msd_blocks *s, struct msd_block *b)
{
	struct msd_block *gone = b->next;

	take_out(s, gone);
	b->bytes += gone->bytes;
	b->next = gone->next;
	if (gone->next != NULL)
		gone->next->prev = b;
	end_block(s, gone);
	tell_up(b);
}

/* Join @b with a free block after it. */
static void join_next(struct msd_blocks *s, struct msd_block *b)
{
	if (b->next != NULL && !b->next->is_live && !b->is_live)
		absorb_next(s, b);
}

bool msd_block_cut(struct msd_blocks *s, struct msd_block *b, uint64_t bytes)
{
	if (b->bytes <= bytes)
		return true;
	b->is_live = false; /* the tree is updated when it is live again and shorter */
	if (!msd_block_claim(s, b, bytes)) {
		b->is_live = true;
		return false;
	}
	join_next(s, b->next);
	return true;
}

bool msd_block_widen(struct msd_blocks *s, struct msd_block *b, uint64_t bytes)
{
	struct msd_block *next = b->next;

	if (b->bytes >= bytes)
		return true;
	const uint64_t more = bytes - b->bytes;
	if (next == NULL || next->is_live || next->bytes < more ||
	    !msd_block_claim(s, next, more))
		return false;
	absorb_next(s, b);
	return true;
}

void msd_block_free(struct msd_blocks *s, struct msd_block *b)
{
	b->is_live = false;
	b->owner = NULL;
	tell_up(b);
	join_next(s, b);
	if (b->prev != NULL)
		join_next(s, b->prev);
}
