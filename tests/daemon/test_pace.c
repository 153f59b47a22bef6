#include <criterion/criterion.h>

#include "daemon/supervisor/module/pace.h"

static uint8_t place_of(const char *text)
{
	return msd_pace_place(msd_span_of(text));
}

Test(pace, what_was_never_seen_is_slow)
{
	const struct msd_pace pace = {0};

	cr_expect_eq(msd_pace_expect(&pace, place_of("m:f")), MSD_PACE_UNKNOWN_US);
}

Test(pace, follows_what_a_function_takes)
{
	struct msd_pace pace = {0};
	const uint8_t f = place_of("m:f");
	const uint8_t g = place_of("m:g");

	cr_assert_neq(f, g);
	msd_pace_note(&pace, f, 100);
	cr_expect_eq(msd_pace_expect(&pace, f), 1);
	msd_pace_note(&pace, f, 100);
	cr_expect_eq(msd_pace_expect(&pace, f), 1);
	msd_pace_note(&pace, f, 8000000);
	cr_expect_gt(msd_pace_expect(&pace, f), 1000, "one slow call is believed");
	for (int i = 0; i < 60; i++)
		msd_pace_note(&pace, f, 100);
	cr_expect_lt(msd_pace_expect(&pace, f), 10);
	cr_expect_eq(msd_pace_expect(&pace, g), MSD_PACE_UNKNOWN_US);
}

Test(pace, any_time_that_a_worker_claims_stays_in_bounds)
{
	struct msd_pace pace = {0};

	for (int i = 0; i < 10; i++)
		msd_pace_note(&pace, 255, i % 2 == 0 ? UINT64_MAX : 0);
	cr_expect_leq(msd_pace_expect(&pace, 255), MSD_PACE_UNKNOWN_US);
	cr_expect_geq(msd_pace_expect(&pace, 255), 1);
}
