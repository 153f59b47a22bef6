#include <criterion/criterion.h>

#include "daemon/loop/account.h"

#define MIB (1u << 20)

/* All together may hold 8 MiB, each of two peers 6, each connection of them 4. */
static struct msd_account all, peers[2], conns[2][3];
static unsigned n_rooms;

static void on_room(struct msd_account *root)
{
	cr_expect_eq(root, &all);
	n_rooms++;
}

static void begin(void)
{
	n_rooms = 0;
	msd_account_open(&all, NULL, 8 * MIB);
	all.on_room = on_room;
	for (unsigned p = 0; p < 2; p++) {
		msd_account_open(&peers[p], &all, 6 * MIB);
		for (unsigned c = 0; c < 3; c++)
			msd_account_open(&conns[p][c], &peers[p], 4 * MIB);
	}
}

static void end(void)
{
	for (unsigned p = 0; p < 2; p++) {
		for (unsigned c = 0; c < 3; c++) {
			msd_account_release(&conns[p][c], conns[p][c].used_bytes);
			msd_account_close(&conns[p][c]);
		}
		cr_expect_eq(peers[p].used_bytes, 0, "all was given back");
		msd_account_close(&peers[p]);
	}
	cr_expect_eq(all.used_bytes, 0);
	cr_expect_eq(all.n_children, 0);
}

Test(account, charges_every_parent, .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], MIB);
	msd_account_charge(&conns[0][1], MIB);
	msd_account_charge(&conns[1][0], MIB);
	cr_expect_eq(peers[0].used_bytes, 2 * MIB);
	cr_expect_eq(peers[1].used_bytes, MIB);
	cr_expect_eq(all.used_bytes, 3 * MIB);
}

Test(account, charges_parents_in_steps_and_never_too_little, .init = begin, .fini = end)
{
	for (unsigned i = 0; i < 1000; i++) {
		msd_account_charge(&conns[0][0], 700);
		cr_assert_geq(all.used_bytes, conns[0][0].used_bytes);
		cr_assert_eq(all.used_bytes % MSD_ACCOUNT_STEP_BYTES, 0);
	}
	for (unsigned i = 0; i < 1000; i++) {
		msd_account_release(&conns[0][0], 700);
		cr_assert_geq(all.used_bytes, conns[0][0].used_bytes);
		cr_assert_leq(all.used_bytes - conns[0][0].used_bytes,
			      2 * MSD_ACCOUNT_STEP_BYTES);
	}
}

Test(account, of_a_connection_is_over_its_own_limit_alone, .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], 4 * MIB);
	cr_expect_not(msd_account_is_over(&conns[0][0]));
	msd_account_charge(&conns[0][0], 1);
	cr_expect(msd_account_is_over(&conns[0][0]));
	cr_expect_not(msd_account_is_over(&peers[0]));
	cr_expect_eq(msd_account_share(&conns[0][0]), UINT64_MAX, "nobody shares yet");
}

Test(account, over_a_peers_limit_spares_who_holds_little, .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], 3 * MIB);
	msd_account_charge(&conns[0][1], 3 * MIB);
	msd_account_charge(&conns[0][2], MIB);
	cr_expect_eq(msd_account_limit(&conns[0][0]), 2 * MIB, "a third of the peer's");
	cr_expect(msd_account_is_over(&conns[0][0]));
	cr_expect(msd_account_is_over(&conns[0][1]));
	cr_expect_not(msd_account_is_over(&conns[0][2]));
	cr_expect_eq(msd_account_share(&conns[1][0]), UINT64_MAX, "not the peer's");
}

Test(account, over_all_limits_stops_the_peer_that_has_more_than_its_share,
     .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], 3 * MIB);
	msd_account_charge(&conns[0][1], 3 * MIB);
	msd_account_charge(&conns[1][0], 3 * MIB);
	cr_expect(msd_account_is_over(&peers[0]));
	cr_expect(msd_account_is_over(&conns[0][0]), "a third of the peer's half");
	cr_expect_not(msd_account_is_over(&peers[1]));
	cr_expect_not(msd_account_is_over(&conns[1][0]));
}

Test(account, never_stops_for_less_than_the_least_share, .init = begin, .fini = end)
{
	conns[0][0].max_bytes = 0;
	msd_account_charge(&conns[0][0], MSD_ACCOUNT_LEAST_BYTES);
	cr_expect_not(msd_account_is_over(&conns[0][0]));
	msd_account_charge(&conns[0][0], 1);
	cr_expect(msd_account_is_over(&conns[0][0]));
}

Test(account, tells_of_room_when_something_is_given_back, .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], MIB);
	cr_expect_eq(n_rooms, 0);
	msd_account_release(&conns[0][0], MIB / 2);
	cr_expect_eq(n_rooms, 1);
}

Test(account, what_was_read_ahead_counts_for_others, .init = begin, .fini = end)
{
	conns[0][0].max_bytes = 0;
	msd_account_read_ahead(&conns[0][0], MIB);
	cr_expect_geq(all.used_bytes, MIB);
	cr_expect_not(msd_account_is_over(&conns[0][0]), "nobody is stopped for it");
	msd_account_charge(&conns[0][0], MIB);
	cr_expect(msd_account_is_over(&conns[0][0]));
	msd_account_release(&conns[0][0], MIB);
	msd_account_served(&conns[0][0], MIB);
	cr_expect_eq(conns[0][0].used_bytes, 0);
}

Test(account, closed_gives_back_the_rest_of_its_last_step, .init = begin, .fini = end)
{
	msd_account_charge(&conns[0][0], 1);
	msd_account_release(&conns[0][0], 1);
	cr_expect_gt(all.used_bytes, 0, "kept for the next one");
	msd_account_close(&conns[0][0]);
	cr_expect_eq(all.used_bytes, 0);
	msd_account_open(&conns[0][0], &peers[0], 4 * MIB);
}

Test(account, is_told_of_what_a_memory_keeps_and_lets_go, .init = begin, .fini = end)
{
	msd_account_weigh(&conns[0][0], 3 * (int64_t)MIB);
	msd_account_weigh(&conns[0][0], -(int64_t)MIB);
	cr_expect_eq(conns[0][0].used_bytes, 2 * MIB);
	msd_account_weigh(&conns[0][0], -2 * (int64_t)MIB);
	cr_expect_eq(conns[0][0].used_bytes, 0);
}
