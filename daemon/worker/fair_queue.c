#include "daemon/worker/fair_queue.h"

#include "daemon/worker/direct/direct_peer.h"

/* The supervisor's requests per request of a direct peer. */
#define GUEST_TURN 4u

/* The peer's first request has waited for no earlier round. */
static void start_now(const struct msd_worker *w, struct msd_peer *peer)
{
	const uint64_t first = w->round + (peer->guest != NULL ? GUEST_TURN : 1);

	if (peer->round < first)
		peer->round = first;
}

void msd_fair_queue_put(struct msd_worker *w, struct msd_request *r)
{
	if (msd_list_is_empty(&r->peer->queue))
		start_now(w, r->peer);
	msd_list_append(&r->peer->queue, &r->link);
}

void msd_fair_queue_begin(struct msd_worker *w, const struct msd_request *r)
{
	w->round = r->peer->round;
	start_now(w, r->peer);
}

struct msd_request *msd_fair_queue_next(struct msd_worker *w)
{
	struct msd_peer *best = NULL;

	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);

		if (msd_list_is_empty(&peer->queue))
			continue;
		if (msd_direct_peer_is_full(peer)) {
			start_now(w, peer);
		} else if (best == NULL || peer->round < best->round) {
			best = peer;
		}
	}
	return best == NULL
		       ? NULL
		       : MSD_CONTAINER_OF(best->queue.next, struct msd_request, link);
}
