/* How long so many rows of a function are expected to take. */
#include <criterion/criterion.h>

#include "daemon/worker/calls/rows_latency.h"

#define MS UINT64_C(1000000)

static struct msd_rows_latency pace;

static void begin(void)
{
	pace = (struct msd_rows_latency){0};
}

static void note(unsigned times, uint64_t rows, uint64_t ns)
{
	while (times-- > 0)
		msd_rows_latency_note(&pace, rows, ns);
}

static void expect_about(uint64_t rows, uint64_t ns)
{
	const uint64_t got = msd_rows_latency_expect(&pace, rows);

	cr_expect(got >= ns - ns / 10 && got <= ns + ns / 10,
		  "%lu rows: %lu, not about %lu", (unsigned long)rows,
		  (unsigned long)got, (unsigned long)ns);
}

TestSuite(rows_pace, .init = begin);

Test(rows_pace, a_row_takes_long_before_any_was_seen)
{
	expect_about(1, MSD_ROWS_LATENCY_UNKNOWN_NS);
	expect_about(60, 60 * MSD_ROWS_LATENCY_UNKNOWN_NS);
}

Test(rows_pace, as_many_are_expected_to_take_as_long_again)
{
	note(1, 1, 10 * MS);
	note(1, 64, 40 * MS);
	expect_about(1, 10 * MS);
	expect_about(64, 40 * MS);
}

Test(rows_pace, of_more_than_were_seen_each_takes_as_long)
{
	note(1, 1, 10 * MS);
	note(1, 8, 16 * MS);
	expect_about(60, 8 * 16 * MS);
}

Test(rows_pace, fewer_than_were_seen_take_no_longer)
{
	note(1, 64, 40 * MS);
	expect_about(3, 40 * MS);
}

Test(rows_pace, a_slow_first_run_is_forgotten_for_a_faster_second)
{
	note(1, 8, 1000 * MS);
	note(1, 8, 10 * MS);
	expect_about(8, 10 * MS);
}

Test(rows_pace, it_follows_the_latest)
{
	note(8, 8, 10 * MS);
	note(1, 8, 50 * MS);
	expect_about(8, 20 * MS);
	note(40, 8, 50 * MS);
	expect_about(8, 50 * MS);
	note(40, 8, 10 * MS);
	expect_about(8, 10 * MS);
}

Test(rows_pace, what_was_slow_once_is_tried_again_when_fewer_are_fast)
{
	note(1, 64, 10000 * MS);
	note(4, 32, 10 * MS);
	expect_about(64, 40 * MS);
}

Test(rows_pace, numbers_without_end_are_longer_than_all)
{
	cr_expect_eq(msd_rows_latency_expect(&pace, UINT64_MAX), UINT64_MAX);
	note(2, UINT64_MAX, MS);
	expect_about(UINT64_MAX, MS);
}
