#include <criterion/criterion.h>

#include "daemon/supervisor/rights/login_throttle.h"

static struct msd_login_history p;

static struct msd_peer_id peer(uint64_t value)
{
	return (struct msd_peer_id){.kind = MSD_PEER_IPV4, .value = value};
}

static const struct msd_digest token = {.b = {1}}, other = {.b = {2}};

Test(proven, is_that_token_of_that_peer_and_nothing_else)
{
	cr_expect_not(msd_login_history_has(&p, peer(0), &token, 1000));
	msd_login_history_note(&p, peer(1), &token, 1000);
	cr_expect(msd_login_history_has(&p, peer(1), &token, 1000));
	cr_expect_not(msd_login_history_has(&p, peer(2), &token, 1000));
	cr_expect_not(msd_login_history_has(&p, peer(1), &other, 1000));
	cr_expect_not(msd_login_history_has(&p, (struct msd_peer_id){0},
					    &(struct msd_digest){.b = {0}}, 1000));
}

Test(proven, holds_for_a_while_from_the_last_time)
{
	msd_login_history_note(&p, peer(1), &token, 1000);
	msd_login_history_note(&p, peer(1), &token, 5000);
	cr_expect(msd_login_history_has(&p, peer(1), &token,
					5000 + MSD_LOGIN_HISTORY_MS));
	cr_expect_not(msd_login_history_has(&p, peer(1), &token,
					    5001 + MSD_LOGIN_HISTORY_MS));
}

Test(proven, in_one_place_too_many_pushes_out_the_longest_unused)
{
	for (uint64_t i = 0; i < MSD_LOGIN_HISTORY_PLACES; i++)
		msd_login_history_note(&p, peer(i), &token, 1000 + i);
	msd_login_history_note(&p, peer(0), &token, 2000);
	msd_login_history_note(&p, peer(99), &token, 2001);
	cr_expect(msd_login_history_has(&p, peer(0), &token, 3000));
	cr_expect_not(msd_login_history_has(&p, peer(1), &token, 3000));
	cr_expect(msd_login_history_has(&p, peer(2), &token, 3000));
	cr_expect(msd_login_history_has(&p, peer(99), &token, 3000));
}
