#include "daemon/worker/calls/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (16u * 1024u)

struct msd_arena_chunk {
	struct msd_arena_chunk *next;
	size_t used;
	size_t cap;
	size_t pad; /* keeps bytes[] aligned to 16 */
	uint8_t bytes[];
};

static struct msd_arena_chunk *chunk_add(struct msd_arena *a, size_t n)
{
	size_t cap = n > CHUNK_BYTES ? n : CHUNK_BYTES;

	if (cap > SIZE_MAX - sizeof(struct msd_arena_chunk))
		return NULL;
	struct msd_arena_chunk *c = malloc(sizeof(*c) + cap);
	if (c == NULL)
		return NULL;
	*c = (struct msd_arena_chunk){.cap = cap};
	if (a->last != NULL) {
		a->last->next = c;
	} else {
		a->first = c;
	}
	a->last = c;
	return c;
}

void *msd_arena_alloc(struct msd_arena *a, size_t n)
{
	struct msd_arena_chunk *c = a->last;

	if (n > SIZE_MAX - 15)
		return NULL;
	n = (n + 15) & ~(size_t)15;
	if (c == NULL || n > c->cap - c->used)
		c = chunk_add(a, n);
	if (c == NULL)
		return NULL;
	void *p = c->bytes + c->used;
	c->used += n;
	return memset(p, 0, n);
}

static void free_after(struct msd_arena_chunk *c)
{
	while (c != NULL) {
		struct msd_arena_chunk *next = c->next;
		free(c);
		c = next;
	}
}

void msd_arena_reset(struct msd_arena *a)
{
	if (a->first == NULL)
		return;
	if (a->first->cap > CHUNK_BYTES) {
		msd_arena_finish(a);
		return;
	}
	free_after(a->first->next);
	a->first->next = NULL;
	a->first->used = 0;
	a->last = a->first;
}

void msd_arena_finish(struct msd_arena *a)
{
	free_after(a->first);
	*a = (struct msd_arena){0};
}
