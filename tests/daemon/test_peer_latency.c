#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/peer_latency.h"

static struct msd_peer_latencies paces;

static void end(void)
{
	msd_peer_latencies_finish(&paces);
	cr_expect_eq(paces.n, 0);
}

TestSuite(peer_pace, .fini = end);

static struct msd_peer_id user(uint64_t uid)
{
	return (struct msd_peer_id){.kind = MSD_PEER_USER, .value = uid};
}

Test(peer_pace, is_that_of_a_peers_own_calls)
{
	for (unsigned i = 0; i < 9; i++)
		msd_peer_latencies_note(&paces, user(1), 3, 1000000000);
	msd_peer_latencies_note(&paces, user(2), 3, 1000);
	cr_expect_geq(msd_peer_latencies_expect(&paces, user(1), 3), 1000000);
	cr_expect_leq(msd_peer_latencies_expect(&paces, user(2), 3), 2);
	cr_expect_eq(msd_peer_latencies_expect(&paces, user(3), 3), 0, "never seen");
	cr_expect_eq(msd_peer_latencies_expect(&paces, user(2), 4), 0);
}

Test(peer_pace, of_so_many_who_was_quiet_longest_goes_first)
{
	for (uint64_t uid = 1; uid <= MSD_PEER_LATENCIES; uid++)
		msd_peer_latencies_note(&paces, user(uid), 0, 5000000);
	msd_peer_latencies_note(&paces, user(1), 0, 5000000);
	msd_peer_latencies_note(&paces, user(1000), 0, 5000000);
	cr_expect_eq(paces.n, MSD_PEER_LATENCIES);
	cr_expect_gt(msd_peer_latencies_expect(&paces, user(1), 0), 0);
	cr_expect_eq(msd_peer_latencies_expect(&paces, user(2), 0), 0);
	cr_expect_gt(msd_peer_latencies_expect(&paces, user(1000), 0), 0);
}
