#ifndef MSD_WORKER_PEER_H
#define MSD_WORKER_PEER_H
/* What all peers have, and the supervisor's: frames that only it may send. */
#include "daemon/worker/worker.h"

/** A peer without a connection, in no list, with room for @max_out bytes of results,
 * of whose segments @tell is told. NULL: out of memory. */
struct msd_peer *msd_peer_new(struct msd_worker *w, uint64_t max_out,
			      msd_segment_teller tell);
/** Free it with all that is its own; its connection is closed, or was never open. */
void msd_peer_destroy(struct msd_peer *peer);
/** It wants the answer to a request no more: @params is [id]. Errors: MSD_PROTOCOL. */
MSD_MUST_CHECK msd_err msd_peer_cancel(struct msd_peer *peer, struct msd_span params,
				       struct msd_diag *d);

#endif
