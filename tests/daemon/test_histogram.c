#include <criterion/criterion.h>

#include "daemon/supervisor/module/stats/call_stats.h"

Test(histogram, is_empty_at_first)
{
	const struct msd_histogram h = {0};

	cr_expect_eq(msd_histogram_total(&h), 0);
	cr_expect_eq(msd_histogram_quantile(&h, 50), 0);
}

Test(histogram, takes_every_time)
{
	struct msd_histogram h = {0};

	msd_histogram_note(&h, 0);
	msd_histogram_note(&h, 1);
	msd_histogram_note(&h, UINT64_MAX);
	cr_expect_eq(h.n[0], 2);
	cr_expect_eq(h.n[63], 1);
	cr_expect_eq(msd_histogram_total(&h), 3);
	cr_expect_geq(msd_histogram_quantile(&h, 99), UINT64_C(1) << 63);
}

Test(histogram, a_quantile_is_right_to_a_factor_of_two)
{
	struct msd_histogram h = {0};

	for (uint64_t us = 1; us <= 1000; us++)
		msd_histogram_note(&h, us * 1000);
	for (unsigned percent = 1; percent <= 99; percent++) {
		const uint64_t right = percent * 10000u;
		const uint64_t said = msd_histogram_quantile(&h, percent);

		cr_expect(said > right / 2 && said < right * 2, "%u: %llu", percent,
			  (unsigned long long)said);
	}
}

Test(histogram, a_few_slow_ones_show_at_the_end_alone)
{
	struct msd_histogram h = {0};

	for (int i = 0; i < 98; i++)
		msd_histogram_note(&h, 1000);
	for (int i = 0; i < 2; i++)
		msd_histogram_note(&h, 1000000);
	cr_expect_lt(msd_histogram_quantile(&h, 50), 2048);
	cr_expect_geq(msd_histogram_quantile(&h, 99), 524288);
}
