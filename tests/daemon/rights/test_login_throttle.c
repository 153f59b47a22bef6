#include <criterion/criterion.h>

#include "daemon/supervisor/rights/login_throttle.h"

static struct msd_login_throttle g;

static struct msd_peer_id peer(uint64_t value)
{
	return (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = value};
}

static void guess(uint64_t who, unsigned n, uint64_t now_ms)
{
	while (n-- > 0)
		msd_login_throttle_note(&g, peer(who), now_ms);
}

Test(guesses, of_a_few_nobody_waits)
{
	guess(1, MSD_LOGIN_THROTTLE_FREE, 1000);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1), 1000), 0);
}

Test(guesses, make_that_peer_wait_longer_after_each_and_nobody_else)
{
	guess(1, MSD_LOGIN_THROTTLE_FREE + 1, 1000);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1), 1000),
		     MSD_LOGIN_THROTTLE_WAIT_MS);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(2), 1000), 0);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1),
						1000 + MSD_LOGIN_THROTTLE_WAIT_MS),
		     0);
	guess(1, 1, 3000);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1), 3000),
		     2 * MSD_LOGIN_THROTTLE_WAIT_MS);
	guess(1, 100, 9000);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1), 9000),
		     MSD_LOGIN_THROTTLE_WAIT_MAX_MS);
}

Test(guesses, are_forgotten_of_who_is_quiet)
{
	guess(1, 50, 1000);
	guess(1, 1, 1001 + MSD_LOGIN_THROTTLE_FORGET_MS);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(1),
						1001 + MSD_LOGIN_THROTTLE_FORGET_MS),
		     0);
}

Test(guesses, of_many_peers_push_out_the_longest_quiet)
{
	for (uint64_t i = 0; i < MSD_LOGIN_THROTTLE_PEERS + 1; i++)
		guess(i, 50, 1000 + i);
	cr_expect_eq(msd_login_throttle_left_ms(&g, peer(0), 1100), 0);
	cr_expect_gt(msd_login_throttle_left_ms(&g, peer(1), 1100), 0);
}
