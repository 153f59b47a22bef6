#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/handle_disposal.h"

#define MANY 5000u

static uv_loop_t loop;
static struct msd_tasks tasks;
static struct msd_deadlines deadlines;
static struct msd_edge edge;
static struct msd_client_peer *peer;

/* Each step takes all the time that an iteration has for tasks. */
static uint64_t clock_ns(void)
{
	static uint64_t now_ns;

	return now_ns += MSD_TASKS_TURN_US * 1000u;
}

static void begin(void)
{
	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	tasks.clock_ns = clock_ns;
	msd_deadlines_init(&deadlines, &tasks);
	edge = (struct msd_edge){.loop = &loop, .deadlines = &deadlines};
	msd_list_init(&edge.handle_disposal);
	msd_client_peers_init(&edge.peers, 1u << 30);
	peer = msd_client_peer_get(
		&edge.peers, (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = 1},
		1u << 30);
}

static void end(void)
{
	msd_client_peer_unref(peer);
	msd_deadlines_close(&deadlines);
	msd_tasks_close(&tasks);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0);
}

/* A connection with @n handles of functions has ended. */
static void leave(uint32_t n)
{
	struct msd_account account;
	struct msd_handles hs;
	struct msd_handle h;

	msd_account_open(&account, &peer->account, 1u << 30);
	msd_handles_init(&hs, n);
	msd_handles_charge_to(&hs, &account);
	for (uint32_t i = 0; i < n; i++) {
		cr_assert_eq(
			msd_handles_add(&hs, MSD_K_FUNCTION, strdup("m:f"), &h, NULL),
			MSD_OK);
	}
	msd_handle_disposal_add(&edge, &hs, peer);
	msd_account_close(&account); /* aborts when it is charged with something */
}

static void expect_kept(uint32_t n_places)
{
	cr_expect_eq(edge.n_leaving, n_places);
	cr_expect_eq(peer->n_connections, n_places);
	cr_expect_eq(peer->account.n_children, n_places);
	cr_expect_eq(peer->account.used_bytes > 0, n_places > 0);
}

Test(handle_disposal, few_are_dropped_at_once, .init = begin, .fini = end)
{
	leave(64);
	expect_kept(0);
}

Test(handle_disposal, many_keep_their_place_until_they_are_dropped, .init = begin,
     .fini = end)
{
	leave(MANY);
	leave(MANY);
	expect_kept(2);
	while (edge.n_leaving > 1)
		cr_assert(uv_run(&loop, UV_RUN_ONCE) != 0 || edge.n_leaving <= 1);
	expect_kept(1);
	while (edge.n_leaving > 0)
		cr_assert(uv_run(&loop, UV_RUN_ONCE) != 0 || edge.n_leaving == 0);
	expect_kept(0);
}

Test(handle_disposal, the_end_drops_all, .init = begin, .fini = end)
{
	leave(MANY);
	msd_handle_disposal_finish(&edge);
	expect_kept(0);
}
