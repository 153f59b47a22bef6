#include <criterion/criterion.h>
#include <string.h>

#include "daemon/supervisor/rights/quota.h"

#define T0 5000u /* ms: some time */

static struct msd_usage u;
static struct msd_quota q;
static struct msd_quota_refusal why;

/* How many of @n requests of @bytes each are counted at @now_ms. */
static unsigned ask(unsigned n, uint64_t bytes, uint64_t now_ms)
{
	unsigned counted = 0;

	while (n-- > 0)
		counted += msd_usage_ask(&u, &q, bytes, now_ms, &why);
	return counted;
}

static bool reads(const char *text, enum msd_quota_kind kind, uint64_t *ret)
{
	return msd_quota_read(msd_span_of(text), kind, ret);
}

static void expect_number(const char *text, enum msd_quota_kind kind, uint64_t number)
{
	uint64_t got = 0;

	cr_expect(reads(text, kind, &got), "%s", text);
	cr_expect_eq(got, number, "%s is %llu", text, (unsigned long long)got);
}

static void expect_none(const char *text, enum msd_quota_kind kind)
{
	uint64_t got = 7;

	cr_expect_not(reads(text, kind, &got), "%s", text);
	cr_expect_eq(got, 7, "%s wrote", text);
}

Test(quota, without_one_everything_is_counted)
{
	cr_expect(msd_quota_is_empty(&q));
	cr_expect_eq(ask(1000, UINT64_MAX, T0), 1000);
}

Test(quota, of_a_rate_is_a_seconds_worth_at_once_and_then_the_rate)
{
	q.of[MSD_QUOTA_RATE] = 200;
	cr_expect_eq(ask(500, 0, T0), 200);
	cr_expect_eq(why.kind, MSD_QUOTA_RATE);
	cr_expect_eq(why.retry_after_ms, 5);
	cr_expect_eq(ask(10, 0, T0 + 4), 0);
	cr_expect_eq(why.retry_after_ms, 1);
	cr_expect_eq(ask(10, 0, T0 + 5), 1);
	cr_expect_eq(ask(500, 0, T0 + 505), 100);
	cr_expect_eq(ask(500, 0, T0 + 1000000), 200, "nothing is saved up");
}

Test(quota, whoever_waits_as_long_as_is_said_is_served)
{
	uint64_t now_ms = T0;

	q.of[MSD_QUOTA_RATE] = 3;
	q.of[MSD_QUOTA_BYTES] = 1000;
	(void)ask(10, 999, now_ms);
	for (unsigned i = 0; i < 100; i++) {
		cr_assert_eq(ask(1, 999, now_ms), 0);
		cr_assert_gt(why.retry_after_ms, 0);
		now_ms += why.retry_after_ms;
		cr_assert(ask(1, 999, now_ms) == 1 || why.kind == MSD_QUOTA_BYTES);
		if (why.kind == MSD_QUOTA_BYTES)
			now_ms += why.retry_after_ms;
		(void)ask(1, 999, now_ms);
	}
	cr_expect_geq(now_ms - T0, 99u * 999u, "the slower of both holds");
}

Test(quota, of_bytes_lets_what_is_too_large_through_and_has_it_paid_off)
{
	q.of[MSD_QUOTA_BYTES] = 1000;
	cr_expect_eq(ask(2, 10000, T0), 1);
	cr_expect_eq(why.kind, MSD_QUOTA_BYTES);
	cr_expect_eq(why.retry_after_ms, 10000);
	cr_expect_eq(ask(1, 1, T0 + 9000), 0);
	cr_expect_eq(ask(1, 10000, T0 + 10000), 1);
}

Test(quota, what_is_refused_costs_nothing)
{
	q.of[MSD_QUOTA_RATE] = 10;
	q.of[MSD_QUOTA_BYTES] = 10;
	cr_expect_eq(ask(100, 10, T0), 1);
	cr_expect_eq(ask(9, 0, T0), 9, "the calls that the bytes refused");
}

Test(quota, of_requests_counts_those_in_flight)
{
	q.of[MSD_QUOTA_REQUESTS] = 2;
	u.n_requests = 1;
	cr_expect_eq(ask(1, 0, T0), 1);
	u.n_requests = 2;
	cr_expect_eq(ask(1, 0, T0), 0);
	cr_expect_eq(why.kind, MSD_QUOTA_REQUESTS);
	cr_expect_gt(why.retry_after_ms, 0);
}

Test(quota, of_resident_bytes_counts_what_is_there)
{
	cr_expect(msd_usage_may_keep(&u, &q, UINT64_MAX), "nothing is limited");
	q.of[MSD_QUOTA_RESIDENT] = 1000;
	cr_expect(msd_usage_may_keep(&u, &q, 1000));
	cr_expect_not(msd_usage_may_keep(&u, &q, 1001));
	cr_expect_not(msd_usage_may_keep(&u, &q, UINT64_MAX));
	u.resident_bytes = 600;
	cr_expect(msd_usage_may_keep(&u, &q, 400));
	cr_expect_not(msd_usage_may_keep(&u, &q, 401));
	u.resident_bytes = 2000; /* it was more before */
	cr_expect_not(msd_usage_may_keep(&u, &q, 0));
}

Test(quota, that_is_lowered_holds_at_once)
{
	q.of[MSD_QUOTA_RATE] = 1000;
	(void)ask(1, 0, T0);
	q.of[MSD_QUOTA_RATE] = 2;
	cr_expect_eq(ask(10, 0, T0), 2);
}

Test(quota, bears_the_largest_numbers_and_a_clock_that_goes_back)
{
	q.of[MSD_QUOTA_BYTES] = MSD_BUCKET_MAX;
	cr_expect_eq(ask(2, UINT64_MAX, T0), 1);
	cr_expect_eq(why.retry_after_ms, 1000);
	cr_expect_eq(ask(1, 1, T0 - 1000), 0);
	cr_expect_eq(ask(2, MSD_BUCKET_MAX, UINT64_MAX), 1);
}

Test(quota, is_read_with_its_unit)
{
	expect_number("200/s", MSD_QUOTA_RATE, 200);
	expect_number("10M/s", MSD_QUOTA_BYTES, 10u << 20);
	expect_number("1/s", MSD_QUOTA_BYTES, 1);
	expect_number("8", MSD_QUOTA_REQUESTS, 8);
	expect_number("2G", MSD_QUOTA_RESIDENT, UINT64_C(2) << 30);
	expect_number("1125899906842624/s", MSD_QUOTA_BYTES, MSD_BUCKET_MAX);
	static const char *const wrong[] = {"",    "/s",   "200",   "0/s",  "-1/s",
					    "M/s", "2M/s", "1.5/s", "1 /s", "200/m"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect_none(wrong[i], MSD_QUOTA_RATE);
	expect_none("99999999999999999999999/s", MSD_QUOTA_RATE);
	expect_none("1125899906842625/s", MSD_QUOTA_BYTES);
	expect_none("9999999G/s", MSD_QUOTA_BYTES);
	expect_none("K/s", MSD_QUOTA_BYTES);
	expect_none("8/s", MSD_QUOTA_REQUESTS);
}
