#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/blame.h"

static const struct msd_peer_id alice = {.kind = MSD_PEER_USER, .value = 1000};
static const struct msd_peer_id bob = {.kind = MSD_PEER_USER, .value = 1001};

static bool note(struct msd_culprits *o, struct msd_peer_id who, uint64_t now_ms)
{
	return msd_culprits_note(o, who, 3, MSD_CULPRITS_WITHIN_MS, now_ms);
}

Test(culprits, the_third_kill_within_a_minute_bars_for_a_minute)
{
	struct msd_culprits o = {0};

	cr_expect_not(note(&o, alice, 1000));
	cr_expect_not(note(&o, alice, 2000));
	cr_expect_eq(msd_culprits_left_ms(&o, alice, 2000), 0);
	cr_expect(note(&o, alice, 60999));
	cr_expect_eq(msd_culprits_left_ms(&o, alice, 60999), 60000);
	cr_expect_eq(msd_culprits_left_ms(&o, alice, 120998), 1);
	cr_expect_eq(msd_culprits_left_ms(&o, alice, 120999), 0);
}

Test(culprits, three_kills_over_more_than_a_minute_bar_nobody)
{
	struct msd_culprits o = {0};

	for (uint64_t at = 1000; at < 600000; at += 30000)
		cr_expect_not(note(&o, alice, at), "at %d", (int)at);
}

Test(culprits, others_are_not_barred)
{
	struct msd_culprits o = {0};
	const struct msd_peer_id same_number = {.kind = MSD_PEER_IPV4, .value = 1000};

	for (unsigned i = 0; i < 3; i++)
		(void)note(&o, alice, 1000);
	cr_expect_neq(msd_culprits_left_ms(&o, alice, 1000), 0);
	cr_expect_eq(msd_culprits_left_ms(&o, bob, 1000), 0);
	cr_expect_eq(msd_culprits_left_ms(&o, same_number, 1000), 0);
}

Test(culprits, behind_the_bar_it_takes_three_again)
{
	struct msd_culprits o = {0};

	for (unsigned i = 0; i < 3; i++)
		(void)note(&o, alice, 1000);
	cr_expect_not(note(&o, alice, 61001));
	cr_expect_not(note(&o, alice, 61002));
	cr_expect(note(&o, alice, 61003));
}

Test(culprits, nobody_is_never_barred)
{
	struct msd_culprits o = {0};
	const struct msd_peer_id nobody = {0};

	for (unsigned i = 0; i < 9; i++)
		cr_expect_not(note(&o, nobody, 1000));
	cr_expect_eq(msd_culprits_left_ms(&o, nobody, 1000), 0);
}

Test(culprits, of_too_many_peers_the_longest_quiet_is_forgotten)
{
	struct msd_culprits o = {0};

	for (uint64_t i = 0; i < 3; i++)
		(void)note(&o, alice, 1000 + i);
	for (uint64_t i = 0; i < MSD_CULPRITS_PEERS - 1; i++) {
		(void)note(&o, (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = i},
			   2000 + i);
	}
	cr_expect_neq(msd_culprits_left_ms(&o, alice, 3000), 0, "there was room");
	(void)note(&o, bob, 3000);
	cr_expect_eq(msd_culprits_left_ms(&o, alice, 3000), 0);
}

Test(culprits, as_many_losses_as_are_said_bar_within_the_time_that_is_said)
{
	static const struct {
		uint32_t most;
		uint64_t within_ms, each_ms;
		uint32_t barred_at; /* 0: never */
	} rows[] = {
		{1, 60000, 1000, 1},   {5, 60000, 1000, 5},  {8, 60000, 1000, 8},
		{5, 60000, 15000, 0},  {5, 60001, 15000, 5}, {3, 1260000, 600000, 3},
		{3, 60000, 600000, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct msd_culprits o = {0};
		uint32_t at = 0;
		for (uint32_t n = 1; n <= 20 && at == 0; n++) {
			if (msd_culprits_note(&o, alice, rows[i].most,
					      rows[i].within_ms,
					      1000 + n * rows[i].each_ms))
				at = n;
		}
		cr_expect_eq(at, rows[i].barred_at, "row %zu: at %u", i, at);
	}
}
