#include <criterion/criterion.h>

#include "client/cli/progress.h"

#define MIB (UINT64_C(1) << 20)

static void expect_line(uint64_t sent, uint64_t total, uint64_t elapsed_ms,
			const char *text)
{
	struct msd_buf out = {0};

	msd_progress_put(&out, "m", sent, total, elapsed_ms);
	msd_buf_put_u8(&out, 0);
	cr_assert_not(out.bad);
	cr_expect_str_eq((const char *)out.p, text);
	msd_buf_finish(&out);
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

Test(progress, says_when_the_upload_is_over)
{
	expect_line(100 * MIB, 100 * MIB, 2000,
		    "load m: 100% of 100 MiB, 50.0 MiB/s, starting");
	expect_line(0, 0, 0, "load m: 100% of 0 B, starting");
}
