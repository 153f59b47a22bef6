#include <criterion/criterion.h>

#include "daemon/supervisor/module/queue/peer_latency.h"

#define F 3u
#define G 200u

Test(pace, what_was_never_seen_is_not_known)
{
	const struct msd_latency_estimate pace = {0};

	cr_expect_eq(msd_latency_estimate_expect(&pace, F), 0);
}

Test(pace, follows_what_a_function_takes)
{
	struct msd_latency_estimate pace = {0};

	msd_latency_estimate_note(&pace, F, 100);
	cr_expect_eq(msd_latency_estimate_expect(&pace, F), 1);
	msd_latency_estimate_note(&pace, F, 100);
	cr_expect_eq(msd_latency_estimate_expect(&pace, F), 1);
	msd_latency_estimate_note(&pace, F, 8000000);
	cr_expect_gt(msd_latency_estimate_expect(&pace, F), 1000,
		     "one slow call is believed");
	for (int i = 0; i < 20; i++)
		msd_latency_estimate_note(&pace, F, 100);
	cr_expect_lt(msd_latency_estimate_expect(&pace, F), 10);
	cr_expect_eq(msd_latency_estimate_expect(&pace, G), 0);
}

Test(pace, a_slow_first_call_is_soon_forgotten)
{
	struct msd_latency_estimate pace = {0};

	msd_latency_estimate_note(&pace, F, 8000000000u);
	for (int i = 0; i < 10; i++)
		msd_latency_estimate_note(&pace, F, 10000000);
	cr_expect_lt(msd_latency_estimate_expect(&pace, F), 20000);
}

/* What waits for n calls waits for n times their mean. */
Test(pace, is_about_the_mean_of_calls_that_differ)
{
	struct msd_latency_estimate pace = {0};
	uint64_t sum = 0;

	for (int i = 0; i < 140; i++) {
		msd_latency_estimate_note(&pace, F, i % 2 == 0 ? 1000000 : 9000000);
		sum += i >= 40 ? msd_latency_estimate_expect(&pace, F) : 0;
	}
	cr_expect_geq(sum / 100, 4950);
	cr_expect_leq(sum / 100, 5050);
}

Test(pace, a_first_call_that_was_slower_than_the_second_counts_no_more)
{
	struct msd_latency_estimate pace = {0};

	msd_latency_estimate_note(&pace, F, 100000000);
	msd_latency_estimate_note(&pace, F, 999000);
	cr_expect_eq(msd_latency_estimate_expect(&pace, F), 1000);
}

Test(pace, any_time_that_a_worker_claims_stays_in_bounds)
{
	struct msd_latency_estimate pace = {0};

	for (int i = 0; i < 10; i++)
		msd_latency_estimate_note(&pace, 255, i % 2 == 0 ? UINT64_MAX : 0);
	cr_expect_leq(msd_latency_estimate_expect(&pace, 255),
		      MSD_LATENCY_ESTIMATE_MOST_US);
	cr_expect_geq(msd_latency_estimate_expect(&pace, 255), 1);
}
