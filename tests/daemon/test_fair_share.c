#include <criterion/criterion.h>

#include "daemon/supervisor/request/budget.h"

Test(part, is_what_one_may_have_alone)
{
	cr_expect_eq(msd_fair_share_of(1000, 0, 500), 500);
	cr_expect_eq(msd_fair_share_of(1000, 0, UINT64_MAX), UINT64_MAX);
}

Test(part, is_as_large_of_what_is_left_as_of_all)
{
	cr_expect_eq(msd_fair_share_of(1000, 500, 500), 250);
	cr_expect_eq(msd_fair_share_of(1000, 750, 500), 125);
	cr_expect_eq(msd_fair_share_of(1000, 1000, 500), 0);
	cr_expect_eq(msd_fair_share_of(1000, 1001, 500), 0);
}

Test(part, is_all_where_that_is_set)
{
	cr_expect_eq(msd_fair_share_of(1000, 999, 1000), 1000);
}

Test(part, is_one_at_least_while_there_is_one)
{
	cr_expect_eq(msd_fair_share_of(1000, 1, 2), 2, "not less for a few others");
	cr_expect_eq(msd_fair_share_of(1000, 999, 500), 1);
}

Test(part, leaves_some_whoever_came_before)
{
	uint64_t taken = 0;

	for (int i = 0; i < 8; i++)
		taken += msd_fair_share_of(1024, taken, 512);
	cr_expect_lt(taken, 1024);
}
