#include <criterion/criterion.h>

#include "proto/base/clock.h"

TestSuite(clock, .timeout = 60);

Test(clock, poll_waits_until_the_deadline_or_as_long_as_it_can)
{
	const uint64_t day_ns = UINT64_C(86400) * 1000 * MSD_NS_PER_MS;

	cr_expect_eq(msd_poll_ms(UINT64_MAX), -1, "no bound");
	cr_expect_eq(msd_poll_ms(0), 0, "it is over");
	cr_expect_eq(msd_poll_ms(msd_now_ns() + 50 * day_ns), INT_MAX);
	cr_expect_eq(msd_poll_ms(UINT64_MAX - 1), INT_MAX);
	const int ms = msd_poll_ms(msd_now_ns() + day_ns);
	cr_expect(ms > 0 && ms <= 86400 * 1000, "%d", ms);
}
