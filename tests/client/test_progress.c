#include <criterion/criterion.h>

#include "client/cli/measure/progress.h"

#define MIB (UINT64_C(1) << 20)

static void expect_narrow(uint64_t sent, uint64_t total, uint64_t elapsed_ms,
			  size_t columns, const char *text)
{
	struct msd_buf out = {0};

	const struct msd_progress p = {.verb = "load", .name = "m"};

	msd_progress_put(&out, &p, sent, total, elapsed_ms, columns);
	msd_buf_put_u8(&out, 0);
	cr_assert_not(out.bad);
	cr_expect_str_eq((const char *)out.p, text);
	msd_buf_finish(&out);
}

static void expect_line(uint64_t sent, uint64_t total, uint64_t elapsed_ms,
			const char *text)
{
	expect_narrow(sent, total, elapsed_ms, 0, text);
}

Test(progress, tells_part_rate_and_time_left)
{
	expect_line(25 * MIB, 100 * MIB, 5000,
		    "load m: 25% of 100 MiB, 5.0 MiB/s, 15.0 s left");
	expect_line(0, 100 * MIB, 5000, "load m: 0% of 100 MiB");
}

Test(progress, guesses_no_rate_at_the_beginning)
{
	expect_line(25 * MIB, 100 * MIB, 10, "load m: 25% of 100 MiB");
}

Test(progress, says_when_all_has_come)
{
	expect_line(100 * MIB, 100 * MIB, 2000,
		    "load m: 100% of 100 MiB, 50.0 MiB/s, starting");
}

Test(progress, of_an_unknown_whole_is_what_has_come)
{
	expect_line(25 * MIB, 0, 5000, "load m: 25.0 MiB, 5.0 MiB/s");
}

Test(progress, of_a_narrow_terminal_is_one_line)
{
	expect_narrow(25 * MIB, 100 * MIB, 5000, 46,
		      "load m: 25% of 100 MiB, 5.0 MiB/s, 15.0 s left");
	expect_narrow(25 * MIB, 100 * MIB, 5000, 40,
		      "25% of 100 MiB, 5.0 MiB/s, 15.0 s left");
	expect_narrow(25 * MIB, 100 * MIB, 5000, 37, "25% of 100 MiB, 5.0 MiB/s");
	expect_narrow(25 * MIB, 100 * MIB, 5000, 14, "25% of 100 MiB");
	expect_narrow(25 * MIB, 100 * MIB, 5000, 3, "25%");
}
