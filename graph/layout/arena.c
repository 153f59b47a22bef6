#include "graph/layout/arena.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/bytes.h"

void *msd_arena_aligned_alloc(size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	return aligned_alloc(MSD_ARENA_ALIGN,
			     (bytes / MSD_ARENA_ALIGN + 1) * MSD_ARENA_ALIGN);
}

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

/* The larger one comes first; of equal ones, the one that is written first. */
static int compare(const void *a, const void *b)
{
	const struct msd_arena_place *x = *(struct msd_arena_place *const *)a;
	const struct msd_arena_place *y = *(struct msd_arena_place *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x < y ? -1 : 1;
}

/* @placed is sorted by offset. */
static bool pack_one(struct msd_arena_place **placed, size_t n,
		     struct msd_arena_place *place, size_t *bytes)
{
	size_t offset = 0;
	size_t k = 0;
	size_t end;

	for (size_t i = 0; i < n; i++) {
		const struct msd_arena_place *other = placed[i];
		const size_t other_end = other->offset + other->bytes;

		if (other->last < place->first || place->last < other->first)
			continue;
		if (other->offset >= offset && other->offset - offset >= place->bytes)
			break;
		offset = other_end > offset ? other_end : offset;
	}
	if (!msd_add_size(offset, place->bytes, &end))
		return false;
	place->offset = offset;
	while (k < n && placed[k]->offset <= offset)
		k++;
	memmove((void *)(placed + k + 1), (void *)(placed + k),
		(n - k) * sizeof(struct msd_arena_place *));
	placed[k] = place;
	*bytes = end > *bytes ? end : *bytes;
	return true;
}

bool msd_arena_pack(struct msd_arena_place *places, size_t n, size_t *ret_bytes)
{
	struct msd_arena_place **sorted = calloc(n + 1, sizeof(*sorted));
	struct msd_arena_place **placed = calloc(n + 1, sizeof(*placed));
	bool is_fine = sorted != NULL && placed != NULL;

	*ret_bytes = 0;
	for (size_t i = 0; is_fine && i < n; i++)
		sorted[i] = &places[i];
	if (is_fine)
		qsort((void *)sorted, n, sizeof(struct msd_arena_place *), compare);
	for (size_t i = 0; is_fine && i < n; i++)
		is_fine = pack_one(placed, i, sorted[i], ret_bytes);
	free((void *)sorted);
	free((void *)placed);
	return is_fine;
}
