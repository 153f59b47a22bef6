#include <criterion/criterion.h>

#include "store/trusted_clock.h"

#define DAY 86400u
#define YEAR (365u * DAY)

Test(known_time, it_is_the_latest_that_is_known)
{
	const uint64_t built = msd_trusted_clock(0, 0);

	cr_expect_gt(built, 20000u * DAY);
	cr_expect_eq(msd_trusted_clock(built + 5, 0), built + 5);
	cr_expect_eq(msd_trusted_clock(0, built + 5), built + 5);
	cr_expect_eq(msd_trusted_clock(built + 5, built + 9), built + 9);
	cr_expect_eq(msd_trusted_clock(built + 9, built + 5), built + 9);
}

Test(known_time, a_clock_that_was_set_is_not_overruled_by_years)
{
	const uint64_t now = msd_trusted_clock(0, 0) + DAY;

	cr_expect_eq(msd_trusted_clock(now, now + YEAR), now + YEAR);
	cr_expect_eq(msd_trusted_clock(now, now + YEAR + 1), now);
}

Test(known_time, a_manifest_of_the_past_pushes_nothing)
{
	const uint64_t now = msd_trusted_clock(0, 0) + DAY;

	cr_expect_eq(msd_trusted_clock_push(now, now - 5, now - 9), now - 5);
	cr_expect_eq(msd_trusted_clock_push(now, now - 5, now - 3), now - 3);
}

Test(known_time, one_of_the_far_future_pushes_a_day_at_most)
{
	const uint64_t now = msd_trusted_clock(0, 0) + DAY;

	cr_expect_eq(msd_trusted_clock_push(now, 0, now + 50 * YEAR), now + DAY);
	cr_expect_eq(msd_trusted_clock_push(now, now + 2 * DAY, now + 50 * YEAR),
		     now + 2 * DAY, "it never falls");
}

Test(known_time, without_a_clock_it_pushes_ten_years_of_the_build_at_most)
{
	const uint64_t built = msd_trusted_clock(0, 0);

	cr_expect_eq(msd_trusted_clock_push(0, 0, built + YEAR), built + YEAR);
	cr_expect_eq(msd_trusted_clock_push(0, 0, built + 50 * YEAR),
		     built + 10 * YEAR);
}
