#include "graph/serializer/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/fnv.h"

/* Mixed once more: names differ in their last digits. */
static size_t hash(const char *name)
{
	const uint64_t h = msd_fnv(MSD_FNV_BEGIN, name, strlen(name));

	return (size_t)(h ^ h >> 29);
}

/* The slot of @name, or the free slot for it. */
static struct msd_named *slot_of(struct msd_named *slots, size_t n, const char *name)
{
	size_t i = hash(name) & (n - 1);

	while (slots[i].name != NULL && strcmp(slots[i].name, name) != 0)
		i = (i + 1) & (n - 1);
	return &slots[i];
}

void *msd_names_find(const struct msd_names *names, const char *name)
{
	return names->n_slots > 0 ? slot_of(names->slots, names->n_slots, name)->thing
				  : NULL;
}

static bool grow(struct msd_names *names)
{
	const size_t n = names->n_slots > 0 ? 2 * names->n_slots : 64;
	struct msd_named *slots = calloc(n, sizeof(*slots));

	if (slots == NULL)
		return false;
	for (size_t i = 0; i < names->n_slots; i++) {
		const struct msd_named *from = &names->slots[i];

		if (from->name != NULL)
			*slot_of(slots, n, from->name) = *from;
	}
	free(names->slots);
	names->slots = slots;
	names->n_slots = n;
	return true;
}

bool msd_names_add(struct msd_names *names, const char *name, void *thing)
{
	if (2 * names->n >= names->n_slots && !grow(names))
		return false;
	*slot_of(names->slots, names->n_slots, name) = (struct msd_named){name, thing};
	names->n++;
	return true;
}

void msd_names_finish(struct msd_names *names)
{
	free(names->slots);
	*names = (struct msd_names){0};
}
