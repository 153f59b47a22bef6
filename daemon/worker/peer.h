#ifndef MSD_WORKER_PEER_H
#define MSD_WORKER_PEER_H
/* Common parts of all peers, and the frames that only the supervisor may send. */
#include "daemon/worker/worker.h"

/**
 * Make a peer without a connection, in no list, with @max_out bytes for results. NULL:
 * out of memory.
 */
struct msd_peer *msd_peer_new(struct msd_worker *w, uint64_t max_out);
/** Free it with all that it owns; its connection must be closed, or never opened. */
void msd_peer_destroy(struct msd_peer *peer);
/** Implements msd_conn_ops, for all peers. */
void msd_peer_on_frame(struct msd_conn *c, struct msd_in *in);

#endif
