#include <criterion/criterion.h>

#include "daemon/supervisor/supply_rest.h"

static const struct msd_supply_pace minute = {.poll_ms = 60000, .retry_ms = 1000};

Test(supply_rest, is_the_poll_half_less_to_half_more)
{
	cr_assert_eq(msd_supply_rest(&minute, 0, 0), 30000);
	cr_assert_eq(msd_supply_rest(&minute, 0, UINT32_MAX), 90000);
}

Test(supply_rest, has_no_end_where_nothing_is_polled)
{
	const struct msd_supply_pace once = {.retry_ms = 1000};

	cr_assert_eq(msd_supply_rest(&once, 0, 7), MSD_SUPPLY_NEVER);
	cr_assert_eq(msd_supply_rest(&once, 1, UINT32_MAX), 2000);
}

Test(supply_rest, after_failures_is_anything_up_to_twice_as_long_each_time)
{
	for (uint32_t n = 1; n < 8; n++) {
		cr_assert_eq(msd_supply_rest(&minute, n, 0), 0);
		cr_assert_eq(msd_supply_rest(&minute, n, UINT32_MAX), 1000u << n);
	}
}

Test(supply_rest, never_is_above_its_bound)
{
	const struct msd_supply_pace slow = {.retry_ms = UINT64_MAX};

	cr_assert_eq(msd_supply_rest(&minute, 1000, UINT32_MAX), MSD_SUPPLY_MOST_MS);
	cr_assert_eq(msd_supply_rest(&slow, 70, UINT32_MAX), MSD_SUPPLY_MOST_MS);
}

Test(supply_rest, of_a_start_spreads_over_a_tenth_of_the_poll)
{
	cr_assert_eq(msd_supply_first_rest(&minute, 0), 0);
	cr_assert_eq(msd_supply_first_rest(&minute, UINT32_MAX), 6000);
}
