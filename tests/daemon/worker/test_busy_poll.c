#include <criterion/criterion.h>

#include "daemon/segments/ledger.h"
#include "daemon/worker/direct/busy_poll.h"
#include "proto/base/clock.h"

static uv_loop_t loop;
static struct msd_ledger ledger;
static struct msd_worker w;

static void open_worker(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	w = (struct msd_worker){.ledger = &ledger};
	msd_list_init(&w.peers);
	msd_busy_poll_init(&w, &loop);
	msd_spin_init(&w.spinning.spin, MSD_SPIN_MOST_NS, 2000);
}

static void close_worker(void)
{
	uv_close((uv_handle_t *)&w.spinning.idle, NULL);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0);
}

static bool looks(void)
{
	return uv_is_active((uv_handle_t *)&w.spinning.idle);
}

/* A turn in which a request has come and is done. */
static void run_one(bool is_guests)
{
	w.last_pause_ns = msd_now_ns();
	msd_busy_poll_run(&w, is_guests);
	msd_busy_poll_wait(&w);
}

/* On a machine that stops this process meanwhile a wait may be long. */
static void make_look(void)
{
	while (!looks())
		run_one(true);
}

/* Turns in which nothing comes, until it sleeps. */
static unsigned turns_until_it_sleeps(void)
{
	unsigned n = 0;

	for (; looks() && n <= MSD_SPIN_LOOKS; n++)
		msd_busy_poll_wait(&w);
	return n;
}

Test(spinning, looks_behind_guests_calls_and_sleeps_after_so_many_looks,
     .init = open_worker, .fini = close_worker)
{
	make_look();
	const uint64_t misses = w.spinning.spin.count.misses;
	cr_expect_leq(turns_until_it_sleeps(), MSD_SPIN_LOOKS);
	cr_expect_not(looks());
	cr_expect_eq(w.spinning.spin.count.misses, misses + 1);
	for (unsigned i = 0; i < 1000; i++)
		msd_busy_poll_wait(&w);
	cr_expect_not(looks(), "until something comes");
	cr_expect_eq(w.spinning.spin.count.misses, misses + 1);
}

Test(spinning, what_waits_for_its_guest_to_read_is_not_looked_for, .init = open_worker,
     .fini = close_worker)
{
	struct msd_peer guest;
	struct msd_list request;

	msd_list_init(&guest.link);
	msd_list_init(&guest.queue);
	msd_list_init(&request);
	make_look();
	msd_list_append(&w.peers, &guest.link);
	msd_list_append(&guest.queue, &request);
	cr_expect_leq(turns_until_it_sleeps(), MSD_SPIN_LOOKS);
	cr_expect_not(looks());
}

Test(spinning, is_not_looked_behind_a_call_through_the_supervisor, .init = open_worker,
     .fini = close_worker)
{
	make_look();
	run_one(false);
	cr_expect_not(looks());
	for (unsigned i = 0; i < 1000; i++) {
		run_one(false);
		cr_assert_not(looks());
	}
}

Test(spinning, what_comes_of_it_stands_in_the_ledger, .init = open_worker,
     .fini = close_worker)
{
	make_look();
	run_one(true);
	(void)turns_until_it_sleeps();
	run_one(true);
	cr_expect_gt(ledger.spun.hits, 0);
	cr_expect_eq(ledger.spun.hits, w.spinning.spin.count.hits);
	cr_expect_gt(ledger.spun.misses, 0);
	cr_expect_eq(ledger.spun.misses, w.spinning.spin.count.misses);
	cr_expect_eq(ledger.spun.waste_ns, w.spinning.spin.count.waste_ns);
}

Test(spinning, whom_nobody_allows_it_sleeps_always, .init = open_worker,
     .fini = close_worker)
{
	msd_busy_poll_allow(&w, 0);
	for (unsigned i = 0; i < 1000; i++) {
		run_one(true);
		cr_assert_not(looks());
	}
}

Test(spinning, is_allowed_no_more_than_the_most, .init = open_worker,
     .fini = close_worker)
{
	static const uint64_t us[] = {1, 50, 51, UINT64_MAX};

	for (unsigned i = 0; i < sizeof(us) / sizeof(us[0]); i++) {
		msd_busy_poll_allow(&w, us[i]);
		cr_expect_leq(w.spinning.spin.most_ns, MSD_SPIN_MOST_NS);
		cr_expect_leq(w.spinning.spin.most_ns / MSD_NS_PER_US, us[i]);
	}
}
