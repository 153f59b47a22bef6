#include <criterion/criterion.h>

#include "daemon/supervisor/request/loop_lag.h"

#define W MSD_LOOP_LAG_WINDOW_MS

Test(lag, the_most_of_the_last_windows_is_told)
{
	struct msd_loop_lag lag = {0};

	msd_loop_lag_note(&lag, W, 7);
	msd_loop_lag_note(&lag, W + 1, 3);
	cr_expect_eq(msd_loop_lag_most_ms(lag, W + 1), 7);
	cr_expect_eq(msd_loop_lag_most_ms(lag, 2 * W), 7);
	msd_loop_lag_note(&lag, 2 * W, 9);
	cr_expect_eq(msd_loop_lag_most_ms(lag, 2 * W), 9);
}

Test(lag, what_is_long_ago_is_forgotten)
{
	struct msd_loop_lag lag = {0};

	msd_loop_lag_note(&lag, W, 7);
	cr_expect_eq(msd_loop_lag_most_ms(lag, 3 * W), 0);
	cr_expect_eq(msd_loop_lag_most_ms(lag, 9 * W), 0);
	cr_expect_eq(lag.n_due, 1);
	cr_expect_eq(lag.sum_ms, 7);
}
