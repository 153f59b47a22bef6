#include <criterion/criterion.h>

#include "client/cli/measure/stages.h"
#include "client/result.h"

static const modser_result one = {.trace = {.read_ns = 10,
					    .queue_ns = 20,
					    .to_worker_ns = 30,
					    .copy_in_ns = 40,
					    .run_ns = 50,
					    .copy_out_ns = 60,
					    .reply_ns = 70,
					    .total_ns = 280}};
static const modser_result two = {.trace = {.queue_ns = 40, .total_ns = 40}};

Test(stages, each_has_its_key)
{
	static const char *const keys[MSD_STAGES] = {
		"read_mean_ns",    "queue_mean_ns", "to_worker_mean_ns",
		"copy_in_mean_ns", "run_mean_ns",   "copy_out_mean_ns",
		"reply_mean_ns"};
	struct msd_stages s = {.n = 0};

	msd_stages_note(&s, &one);
	for (unsigned i = 0; i < MSD_STAGES; i++) {
		cr_expect_str_eq(msd_stages_key(i), keys[i]);
		cr_expect_eq(msd_stages_mean_ns(&s, i), 10 * (i + 1), "%s", keys[i]);
	}
}

Test(stages, means_are_of_all_calls_that_tell)
{
	const modser_result untraced = {.exec_ns = 1000};
	struct msd_stages s = {.n = 0};

	msd_stages_note(&s, &one);
	msd_stages_note(&s, &untraced);
	msd_stages_note(&s, &two);
	cr_expect_eq(msd_stages_mean_ns(&s, 1), 30);
	cr_expect_eq(msd_stages_mean_ns(&s, 4), 25);
}

Test(stages, of_no_calls_are_zero)
{
	const struct msd_stages s = {.n = 0};

	cr_expect_eq(msd_stages_mean_ns(&s, 0), 0);
}
