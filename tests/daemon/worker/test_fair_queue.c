/* Whose request is next, of a supervisor's channel and two guests. */
#include <criterion/criterion.h>
#include <string.h>

#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/fair_queue.h"

#define MANY 64u

static struct msd_worker worker;
static struct msd_peer channel, greedy, other;
static struct msd_direct_peer guests[2];
static struct msd_request requests[4 * MANY];
static unsigned n_requests;

static void begin(void)
{
	worker = (struct msd_worker){0};
	msd_list_init(&worker.peers);
	memset(guests, 0, sizeof(guests));
	for (unsigned i = 0; i < 3; i++) {
		struct msd_peer *peer =
			(struct msd_peer *[]){&channel, &greedy, &other}[i];

		*peer = (struct msd_peer){.worker = &worker};
		msd_list_init(&peer->link);
		msd_list_init(&peer->queue);
		msd_list_append(&worker.peers, &peer->link);
	}
	greedy.guest = &guests[0];
	other.guest = &guests[1];
	n_requests = 0;
}

static void ask(struct msd_peer *peer, unsigned n)
{
	while (n-- > 0) {
		struct msd_request *r = &requests[n_requests];
		*r = (struct msd_request){.peer = peer, .id = n_requests++};
		msd_list_init(&r->link);
		msd_fair_queue_put(&worker, r);
	}
}

/* Run the next one; whose it was. */
static struct msd_peer *run(void)
{
	struct msd_request *r = msd_fair_queue_next(&worker);

	if (r == NULL)
		return NULL;
	msd_fair_queue_begin(&worker, r);
	msd_list_remove(&r->link);
	return r->peer;
}

/* How many of the next @n are @peer's. */
static unsigned share(const struct msd_peer *peer, unsigned n)
{
	unsigned own = 0;

	while (n-- > 0)
		own += run() == peer;
	return own;
}

Test(turns, guests_have_one_each_and_the_channel_four, .init = begin)
{
	ask(&greedy, MANY);
	ask(&other, MANY);
	ask(&channel, MANY);
	cr_assert_eq(share(&channel, 36), 24);
	cr_assert_leq(share(&greedy, 12), 3);
}

Test(turns, who_has_asked_for_nothing_has_saved_up_none, .init = begin)
{
	ask(&greedy, MANY);
	cr_assert_eq(share(&greedy, MANY / 2), MANY / 2);
	ask(&other, MANY);
	const unsigned own = share(&other, 20);
	cr_assert(own >= 9 && own <= 11, "%u", own);
}

Test(turns, who_reads_again_has_saved_up_none, .init = begin)
{
	ask(&greedy, MANY / 2);
	greedy.conn.queued_bytes = MSD_DIRECT_PEER_UNREAD_BYTES + 1;
	ask(&other, 2 * MANY);
	cr_assert_eq(share(&other, MANY), MANY, "the other one is passed over");
	greedy.conn.queued_bytes = 0;
	const unsigned own = share(&greedy, 20);
	cr_assert(own >= 9 && own <= 11, "%u", own);
	const uint64_t now = worker.round;
	(void)share(&other, 10);
	cr_assert_geq(worker.round, now, "rounds do not come again");
}

Test(turns, who_cancels_is_not_put_back_for_it, .init = begin)
{
	ask(&greedy, MANY);
	for (unsigned i = 0; i < MANY; i++)
		msd_list_remove(&requests[i].link);
	ask(&other, MANY);
	ask(&greedy, MANY);
	const unsigned own = share(&greedy, 20);
	cr_assert(own >= 9 && own <= 11, "%u", own);
}

Test(turns, of_one_peer_they_keep_their_order, .init = begin)
{
	uint64_t last = 0;

	ask(&greedy, MANY);
	ask(&other, MANY);
	greedy.conn.queued_bytes = MSD_DIRECT_PEER_UNREAD_BYTES + 1;
	(void)share(&other, 10);
	greedy.conn.queued_bytes = 0;
	for (struct msd_request *r; (r = msd_fair_queue_next(&worker)) != NULL;) {
		if (r->peer == &greedy) {
			cr_assert(r->id == 0 || r->id == last + 1);
			last = r->id;
		}
		msd_fair_queue_begin(&worker, r);
		msd_list_remove(&r->link);
	}
	cr_assert_eq(last, MANY - 1);
}

Test(turns, of_one_peer_they_keep_it_when_others_are_cancelled, .init = begin)
{
	ask(&channel, 5);
	ask(&other, 1);
	for (unsigned i = 0; i < 3; i++)
		msd_list_remove(&requests[i].link);
	ask(&channel, 2);
	for (uint64_t last = 0, left = 4; left > 0; left--) {
		struct msd_request *r;
		while ((r = msd_fair_queue_next(&worker))->peer != &channel)
			(void)run();
		cr_assert_gt(r->id, last);
		last = r->id;
		(void)run();
	}
}

Test(turns, who_reads_nothing_has_none, .init = begin)
{
	greedy.conn.queued_bytes = MSD_DIRECT_PEER_UNREAD_BYTES + 1;
	ask(&greedy, 3);
	cr_assert_null(msd_fair_queue_next(&worker));
}
