#ifndef MSD_SUPERVISOR_LEAVINGS_H
#define MSD_SUPERVISOR_LEAVINGS_H
/*
 * What sessions leave behind when they end: the handles that they had, which may be
 * many. Some are dropped in each turn of the loop, and the others get theirs between.
 * Until then they keep their connection's place, and are charged to its peer.
 */
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/wire/handle.h"

struct msd_edge;

/** Once for each edge. */
void msd_leavings_init(struct msd_edge *e);
/** Drop all of @hs, which has no uploads, some of it later; @hs is empty then. What it
 * had nobody can name any more. It was of a connection of @p. */
void msd_leavings_take(struct msd_edge *e, struct msd_handles *hs,
		       struct msd_client_peer *p);
/** The loop ends: drop all that is left now. */
void msd_leavings_finish(struct msd_edge *e);

#endif
