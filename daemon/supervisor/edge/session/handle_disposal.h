#ifndef MSD_SUPERVISOR_HANDLE_DISPOSAL_H
#define MSD_SUPERVISOR_HANDLE_DISPOSAL_H
/*
 * Disposes of the handles of ended sessions, which may be many: a task drops some
 * at a time, so that other clients are served in between. Until all are dropped, they
 * keep the connection slot and are charged to the peer.
 */
#include "daemon/loop/handle.h"
#include "daemon/supervisor/edge/session/session.h"

struct msd_edge;

/**
 * Drop all handles in @hs, some of them later; @hs is empty afterwards. It must
 * contain no uploads, and no client can name the handles any more. @p is the peer of
 * the connection.
 */
void msd_handle_disposal_add(struct msd_edge *e, struct msd_handles *hs,
			     struct msd_client_peer *p);
/** Drop all remaining handles now, because the loop ends. */
void msd_handle_disposal_finish(struct msd_edge *e);

#endif
