#include <criterion/criterion.h>

#include "daemon/supervisor/module/overruns.h"

static const struct msd_peer_id alice = {.kind = MSD_PEER_USER, .value = 1000};
static const struct msd_peer_id bob = {.kind = MSD_PEER_USER, .value = 1001};

Test(overruns, the_third_kill_within_a_minute_bars_for_a_minute)
{
	struct msd_overruns o = {0};

	cr_expect_not(msd_overruns_note(&o, alice, 1000));
	cr_expect_not(msd_overruns_note(&o, alice, 2000));
	cr_expect_eq(msd_overruns_left_ms(&o, alice, 2000), 0);
	cr_expect(msd_overruns_note(&o, alice, 60999));
	cr_expect_eq(msd_overruns_left_ms(&o, alice, 60999), 60000);
	cr_expect_eq(msd_overruns_left_ms(&o, alice, 120998), 1);
	cr_expect_eq(msd_overruns_left_ms(&o, alice, 120999), 0);
}

Test(overruns, three_kills_over_more_than_a_minute_bar_nobody)
{
	struct msd_overruns o = {0};

	for (uint64_t at = 1000; at < 600000; at += 30000)
		cr_expect_not(msd_overruns_note(&o, alice, at), "at %d", (int)at);
}

Test(overruns, others_are_not_barred)
{
	struct msd_overruns o = {0};
	const struct msd_peer_id same_number = {.kind = MSD_PEER_IPV4, .value = 1000};

	for (unsigned i = 0; i < 3; i++)
		(void)msd_overruns_note(&o, alice, 1000);
	cr_expect_neq(msd_overruns_left_ms(&o, alice, 1000), 0);
	cr_expect_eq(msd_overruns_left_ms(&o, bob, 1000), 0);
	cr_expect_eq(msd_overruns_left_ms(&o, same_number, 1000), 0);
}

Test(overruns, behind_the_bar_it_takes_three_again)
{
	struct msd_overruns o = {0};

	for (unsigned i = 0; i < 3; i++)
		(void)msd_overruns_note(&o, alice, 1000);
	cr_expect_not(msd_overruns_note(&o, alice, 61001));
	cr_expect_not(msd_overruns_note(&o, alice, 61002));
	cr_expect(msd_overruns_note(&o, alice, 61003));
}

Test(overruns, nobody_is_never_barred)
{
	struct msd_overruns o = {0};
	const struct msd_peer_id nobody = {0};

	for (unsigned i = 0; i < 9; i++)
		cr_expect_not(msd_overruns_note(&o, nobody, 1000));
	cr_expect_eq(msd_overruns_left_ms(&o, nobody, 1000), 0);
}

Test(overruns, of_too_many_peers_the_longest_quiet_is_forgotten)
{
	struct msd_overruns o = {0};

	for (uint64_t i = 0; i < 3; i++)
		(void)msd_overruns_note(&o, alice, 1000 + i);
	for (uint64_t i = 0; i < MSD_OVERRUNS_PEERS - 1; i++) {
		(void)msd_overruns_note(
			&o, (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = i},
			2000 + i);
	}
	cr_expect_neq(msd_overruns_left_ms(&o, alice, 3000), 0, "there was room");
	(void)msd_overruns_note(&o, bob, 3000);
	cr_expect_eq(o.n, MSD_OVERRUNS_PEERS);
	cr_expect_eq(msd_overruns_left_ms(&o, alice, 3000), 0);
}
