#ifndef MSD_WORKER_PEER_H
#define MSD_WORKER_PEER_H
/* Common parts of all peers, and the frames that only the supervisor may send. */
#include "daemon/worker/worker.h"

/**
 * Make a peer without a connection, in no list, with @max_out bytes for results.
 * @tell is called for its segments. NULL: out of memory.
 */
struct msd_peer *msd_peer_new(struct msd_worker *w, uint64_t max_out,
			      msd_segment_teller tell);
/** Free it with all that it owns; its connection must be closed, or never opened. */
void msd_peer_destroy(struct msd_peer *peer);
/** Cancel a request of the peer: @params is [id]. Errors: MSD_PROTOCOL. */
MSD_MUST_CHECK msd_err msd_peer_cancel(struct msd_peer *peer, struct msd_span params,
				       struct msd_diag *d);

#endif
