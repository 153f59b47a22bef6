#ifndef MSD_SUPERVISOR_PEER_TABLE_H
#define MSD_SUPERVISOR_PEER_TABLE_H
/*
 * A small table of peers: an array whose elements begin with a struct msd_peer_entry.
 * The entry that was used longest ago is replaced by a new peer, so many peers cannot
 * make it grow. All zeros: no entries. The caller passes the time.
 */
#include <stddef.h>

#include "daemon/supervisor/request/peer_id.h"

struct msd_peer_entry {
	struct msd_peer_id who; /* MSD_PEER_UNKNOWN: unused */
	uint64_t used;          /* time of the last use; unused entries have 0 */
};

/** Return the entry of @who among @n entries of @bytes each from @first on, or NULL. */
void *msd_peer_table_find(const void *first, size_t n, size_t bytes,
			  struct msd_peer_id who);
/**
 * The same, but if @who has none, it gets one: unused, or the one used longest ago,
 * with zeros in the rest. Its time becomes @now.
 */
void *msd_peer_table_get(void *first, size_t n, size_t bytes, struct msd_peer_id who,
			 uint64_t now);

#define MSD_PEER_TABLE_FIND(array, who)                                                \
	msd_peer_table_find((array), sizeof(array) / sizeof((array)[0]),               \
			    sizeof((array)[0]), (who))
#define MSD_PEER_TABLE_GET(array, who, now)                                            \
	msd_peer_table_get((array), sizeof(array) / sizeof((array)[0]),                \
			   sizeof((array)[0]), (who), (now))

#endif
