#include "daemon/supervisor/request/peer_table.h"

#include <string.h>

/* Entries are in use from the first on, and are never removed. */
static struct msd_peer_entry *entry(const void *first, size_t i, size_t bytes)
{
	return (struct msd_peer_entry *)((uintptr_t)first + i * bytes);
}

void *msd_peer_table_find(const void *first, size_t n, size_t bytes,
			  struct msd_peer_id who)
{
	for (size_t i = 0; i < n; i++) {
		struct msd_peer_entry *e = entry(first, i, bytes);
		if (e->who.kind == MSD_PEER_UNKNOWN)
			return NULL;
		if (msd_peer_id_is(e->who, who))
			return e;
	}
	return NULL;
}

void *msd_peer_table_get(void *first, size_t n, size_t bytes, struct msd_peer_id who,
			 uint64_t now)
{
	struct msd_peer_entry *e = msd_peer_table_find(first, n, bytes, who);

	if (e == NULL) {
		e = first;
		for (size_t i = 0; i < n && e->who.kind != MSD_PEER_UNKNOWN; i++) {
			struct msd_peer_entry *other = entry(first, i, bytes);
			if (other->who.kind == MSD_PEER_UNKNOWN ||
			    other->used < e->used)
				e = other;
		}
		memset(e, 0, bytes);
		e->who = who;
	}
	e->used = now;
	return e;
}
