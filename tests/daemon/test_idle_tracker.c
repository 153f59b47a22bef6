#include <criterion/criterion.h>

#include "daemon/supervisor/module/life/idle_tracker.h"

static uint64_t again_ms;

Test(idleness, comes_when_nobody_has_called_for_so_long_and_not_before)
{
	struct msd_idle_tracker i = {.keep_alive_ms = 1000};

	msd_idle_tracker_begin(&i, 7, 5000);
	cr_expect_not(msd_idle_tracker_look(&i, 7, false, 5999, &again_ms));
	cr_expect(msd_idle_tracker_look(&i, 7, false, 6000, &again_ms));
}

Test(idleness, begins_anew_with_each_call)
{
	struct msd_idle_tracker i = {.keep_alive_ms = 1000};

	msd_idle_tracker_begin(&i, 7, 5000);
	cr_expect_not(msd_idle_tracker_look(&i, 8, false, 6500, &again_ms));
	cr_expect_not(msd_idle_tracker_look(&i, 8, false, 7499, &again_ms));
	cr_expect(msd_idle_tracker_look(&i, 8, false, 7500, &again_ms));
}

Test(idleness, does_not_come_while_somebody_uses_it)
{
	struct msd_idle_tracker i = {.keep_alive_ms = 1000};

	msd_idle_tracker_begin(&i, 7, 5000);
	cr_expect_not(msd_idle_tracker_look(&i, 7, true, 60000, &again_ms));
	cr_expect_not(msd_idle_tracker_look(&i, 7, false, 60999, &again_ms));
}

Test(idleness, is_looked_for_four_times_in_its_time_and_rests_between)
{
	struct msd_idle_tracker i = {.keep_alive_ms = 1};

	msd_idle_tracker_begin(&i, 0, 0);
	cr_expect_not(msd_idle_tracker_look(&i, 0, true, 0, &again_ms));
	cr_expect_eq(again_ms, 1, "it would turn without end");
	i.keep_alive_ms = 1000;
	cr_expect_not(msd_idle_tracker_look(&i, 0, true, 0, &again_ms));
	cr_expect_eq(again_ms, 251);
}

Test(idleness, one_that_is_wanted_is_idle_at_once_unless_a_call_comes)
{
	struct msd_idle_tracker i = {0};

	again_ms = 7;
	msd_idle_tracker_begin(&i, 3, 100);
	cr_expect_not(msd_idle_tracker_look(&i, 3, false, 5000, &again_ms));
	cr_expect_eq(again_ms, 0, "never, without a time and a wish");
	i.is_wanted = true;
	cr_expect(msd_idle_tracker_look(&i, 3, false, 100, &again_ms));
	cr_expect_not(msd_idle_tracker_look(&i, 4, false, 100, &again_ms));
	cr_expect_not(i.is_wanted, "the call is the answer");
}

Test(idleness, the_rest_begins_again_with_a_call)
{
	struct msd_idle_tracker i = {.keep_alive_ms = 1000};

	msd_idle_tracker_begin(&i, 3, 100);
	cr_expect_eq(msd_idle_tracker_left_ms(&i, 3, 400), 700);
	cr_expect_eq(msd_idle_tracker_left_ms(&i, 3, 4000), 0);
	cr_expect_eq(msd_idle_tracker_left_ms(&i, 4, 400), 1000);
}
