#include <criterion/criterion.h>
#include <unistd.h>

#include "daemon/supervisor/module/stats/rss.h"

#define NO_PID 0x7ffffff0 /* above what the system gives */

Test(rss, is_what_the_process_has)
{
	cr_expect_gt(msd_rss_look(getpid()), 1u << 16);
	cr_expect_eq(msd_rss_look(NO_PID), 0);
	cr_expect_eq(msd_rss_look(0), 0);
}

Test(rss, is_looked_up_once_a_second)
{
	struct msd_rss rss = {0};
	uint32_t looks = 10;
	const uint64_t first = msd_rss_recent(&rss, getpid(), 5000, &looks);

	cr_assert_gt(first, 0);
	cr_expect_eq(msd_rss_recent(&rss, NO_PID, 5999, &looks), first);
	cr_expect_eq(looks, 9);
	cr_expect_eq(msd_rss_recent(&rss, NO_PID, 6000, &looks), 0);
	cr_expect_eq(looks, 8);
}

Test(rss, beyond_the_looks_of_one_list_it_is_the_last_that_is_known)
{
	struct msd_rss one = {0}, two = {0};
	uint32_t looks = 1;

	cr_expect_gt(msd_rss_recent(&one, getpid(), 5000, &looks), 0);
	cr_expect_eq(msd_rss_recent(&two, getpid(), 5000, &looks), 0);
	cr_expect_gt(msd_rss_recent(&one, getpid(), 9000, &looks), 0);
}
