#include "client/transport/shared_segment.h"

#include "proto/limits.h"

bool msd_shared_segment_serves(enum msd_method method)
{
	return method == MSD_M_CALL || method == MSD_M_TENSOR_COPY;
}

bool msd_shared_segment_name(const modser_segment *all, const void *data,
			     struct msd_wire_tensor *t)
{
	const uintptr_t at = (uintptr_t)data;

	for (const modser_segment *s = all; s != NULL; s = s->next) {
		const uintptr_t first = (uintptr_t)s->map;
		if (at < first || at - first > s->bytes ||
		    t->bytes > s->bytes - (at - first))
			continue;
		if ((at - first) % MSD_TENSOR_ALIGN != 0)
			return false;
		if (t->where == MSD_AT_INLINE)
			t->where = MSD_AT_SEGMENT;
		t->segment = s->number;
		t->offset = at - first;
		return true;
	}
	return false;
}

void msd_shared_segment_leave(modser_segment *all)
{
	while (all != NULL) {
		modser_segment *next = all->next;

		all->client = NULL;
		all->next = NULL;
		all = next;
	}
}
