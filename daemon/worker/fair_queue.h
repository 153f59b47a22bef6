#ifndef MSD_WORKER_FAIR_QUEUE_H
#define MSD_WORKER_FAIR_QUEUE_H
/*
 * The requests of all peers. Each peer has its own queue, which keeps its order, and
 * peers are served in rounds: the first request of each peer runs before the second of
 * any, however many wait. The supervisor sends for many clients, so it has several
 * requests in one round.
 *
 * Unused slots are not saved up: a peer that was idle, or was passed over because it
 * does not read replies, continues in the current round.
 */
#include "daemon/worker/worker.h"

/** Add @r, which is in no list, to the queue of its peer. */
void msd_fair_queue_put(struct msd_worker *w, struct msd_request *r);
/** @r, the first of its peer, runs now: its round is the current one. */
void msd_fair_queue_begin(struct msd_worker *w, const struct msd_request *r);
/** Return the next request, or NULL if no peer with a request reads its replies. */
struct msd_request *msd_fair_queue_next(struct msd_worker *w);

#endif
