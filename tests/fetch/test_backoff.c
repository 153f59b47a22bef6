#include <criterion/criterion.h>

#include "daemon/fetch/transfer/transfer.h"

#define TRIES 2000

/* The longest and the shortest of many. */
static void expect_within(unsigned n_failures, uint64_t least, uint64_t most)
{
	for (unsigned i = 0; i < TRIES; i++) {
		const uint64_t ms = msd_backoff_ms(n_failures, 1000, least);

		cr_assert_geq(ms, least);
		cr_assert_leq(ms, most);
	}
}

Test(backoff, at_most_doubles_with_each_failure)
{
	expect_within(1, 0, 1000);
	expect_within(2, 0, 2000);
	expect_within(4, 0, 8000);
}

Test(backoff, is_spread_over_all_of_it)
{
	unsigned n_low = 0, n_high = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		const uint64_t ms = msd_backoff_ms(3, 1000, 0);

		n_low += ms < 1000;
		n_high += ms > 3000;
	}
	cr_assert_gt(n_low, TRIES / 8);
	cr_assert_gt(n_high, TRIES / 8);
}

Test(backoff, is_not_below_what_the_server_asked_for)
{
	expect_within(1, 900, 1000);
	cr_assert_eq(msd_backoff_ms(1, 1000, 5000), 5000);
}

Test(backoff, never_is_above_its_bound)
{
	expect_within(1000, 0, MSD_BACKOFF_MOST_MS);
	cr_assert_eq(msd_backoff_ms(1, 1000, UINT64_MAX), MSD_BACKOFF_MOST_MS);
	cr_assert_leq(msd_backoff_ms(70, UINT64_MAX, 0), MSD_BACKOFF_MOST_MS);
}
