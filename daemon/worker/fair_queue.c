#include "daemon/worker/fair_queue.h"

#include "daemon/worker/direct/direct_peer.h"

/* The supervisor's requests per request of a direct peer. */
#define GUEST_TURN 4u

static struct msd_request *request_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_request, link);
}

static uint64_t turn_of(const struct msd_peer *peer)
{
	return peer->guest != NULL ? GUEST_TURN : 1;
}

static uint64_t next_round(const struct msd_worker *w, struct msd_peer *peer)
{
	if (peer->round < w->round)
		peer->round = w->round;
	peer->round += turn_of(peer);
	return peer->round;
}

/* After msd_fair_queue_give_back() the new request could be ordered before queued
 * requests of its peer. Then it gets the round of the last one. */
void msd_fair_queue_put(struct msd_worker *w, struct msd_request *r)
{
	struct msd_list *before = w->queue.prev;

	r->round = next_round(w, r->peer);
	while (before != &w->queue && request_of(before)->round > r->round) {
		if (request_of(before)->peer == r->peer) {
			r->peer->round = r->round = request_of(before)->round;
			break;
		}
		before = before->prev;
	}
	msd_list_append(before->next, &r->link);
}

void msd_fair_queue_begin(struct msd_worker *w, const struct msd_request *r)
{
	if (r->round > w->round)
		w->round = r->round;
}

void msd_fair_queue_give_back(const struct msd_request *r)
{
	struct msd_peer *peer = r->peer;

	peer->round -= turn_of(peer) < peer->round ? turn_of(peer) : peer->round;
}

/* Move the queued requests of @peer, in order, to rounds from the current one on. */
static void restart(struct msd_worker *w, struct msd_peer *peer)
{
	struct msd_list own;
	struct msd_list *at;

	msd_list_init(&own);
	MSD_LIST_EACH_SAFE (it, &w->queue) {
		if (request_of(it)->peer != peer)
			continue;
		msd_list_remove(it);
		msd_list_append(&own, it);
	}
	peer->round = w->round;
	at = w->queue.next;
	MSD_LIST_EACH_SAFE (it, &own) {
		struct msd_request *r = request_of(it);
		r->round = next_round(w, peer);
		/* Queue entries have a round: the analyzer takes the list's head for
		 * a request. NOLINTNEXTLINE(clang-analyzer-core.*) */
		while (at != &w->queue && request_of(at)->round <= r->round)
			at = at->next;
		msd_list_remove(it);
		msd_list_append(at, it);
	}
}

static struct msd_request *first_to_run(const struct msd_worker *w)
{
	MSD_LIST_EACH (it, &w->queue) {
		struct msd_request *r = request_of(it);
		if (!msd_direct_peer_is_full(r->peer))
			return r;
		r->peer->guest->is_passed_over = true;
	}
	return NULL;
}

struct msd_request *msd_fair_queue_next(struct msd_worker *w)
{
	struct msd_request *r = first_to_run(w);

	while (r != NULL && r->peer->guest != NULL && r->peer->guest->is_passed_over) {
		r->peer->guest->is_passed_over = false;
		restart(w, r->peer);
		r = first_to_run(w);
	}
	return r;
}
