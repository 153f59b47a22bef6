#ifndef MSD_WORKER_PEER_TIMEOUT_H
#define MSD_WORKER_PEER_TIMEOUT_H
/*
 * Closes direct peers that do not read their replies or stop within a frame, as the
 * daemon does with its clients (--write-stall, --read-stall). A peer that is leaving
 * has a limit for its total time.
 */
#include "daemon/worker/worker.h"

void msd_peer_timeout_init(struct msd_worker *w, uv_loop_t *loop);
/** Call after an iteration that may leave replies unread, or frames incomplete. */
void msd_peer_timeout_watch(struct msd_worker *w);

#endif
