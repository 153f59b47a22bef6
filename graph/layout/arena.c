#include "graph/layout/arena.h"

#include <string.h>

#include "proto/base/bytes.h"

/* Live tensors stay sorted by offset. */
bool msd_arena_put(struct msd_arena *a, size_t tensor)
{
	struct msd_arena_place *place = &a->places[tensor];
	size_t offset = 0;
	size_t k = 0;
	size_t end;

	for (; k < a->n_live; k++) {
		const struct msd_arena_place *other = &a->places[a->live[k]];

		if (other->offset - offset >= place->bytes)
			break;
		offset = other->offset + other->bytes;
	}
	if (!msd_add_size(offset, place->bytes, &end))
		return false;
	place->offset = offset;
	memmove(a->live + k + 1, a->live + k, (a->n_live - k) * sizeof(*a->live));
	a->live[k] = tensor;
	a->n_live++;
	if (end > a->bytes)
		a->bytes = end;
	return true;
}

void msd_arena_drop(struct msd_arena *a, size_t step)
{
	size_t n = 0;

	for (size_t k = 0; k < a->n_live; k++) {
		if (a->places[a->live[k]].last > step)
			a->live[n++] = a->live[k];
	}
	a->n_live = n;
}
