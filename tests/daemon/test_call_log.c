#include <criterion/criterion.h>

#include "daemon/supervisor/module/stats/call_log.h"
#include "daemon/supervisor/module/stats/call_stats.h"

static struct msd_call_log call_log;
static struct msd_tasks tasks;
static struct msd_deadlines deadlines;
static uv_loop_t loop;
static struct msd_call_stats *call_stats;

static void begin(void)
{
	(void)uv_loop_init(&loop);
	msd_tasks_init(&tasks, &loop);
	msd_deadlines_init(&deadlines, &tasks);
	msd_call_log_init(&call_log);
	call_stats = msd_call_stats_new("digits");
	cr_assert_not_null(call_stats);
}

static void end(void)
{
	msd_call_log_finish(&call_log);
	msd_call_stats_unref(call_stats);
	msd_deadlines_close(&deadlines);
	msd_tasks_close(&tasks);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
}

TestSuite(call_log, .init = begin, .fini = end);

static void note(struct msd_call_stats *of, uint64_t end_ns)
{
	struct msd_logged_call *call = msd_call_log_next(&call_log, &deadlines, of);

	*call = (struct msd_logged_call){
		.end_ns = end_ns, .call_stats = of, .spent_ns = {1, 2, 3, 4}};
}

Test(call_log, the_last_calls_are_kept_by_their_numbers)
{
	for (uint64_t i = 0; i < MSD_LOGGED_CALLS + 3; i++)
		note(call_stats, i);
	cr_expect_eq(call_log.total, MSD_LOGGED_CALLS + 3);
	cr_expect_eq(msd_call_log_oldest(&call_log), 3);
	cr_expect_eq(msd_call_log_at(&call_log, 3)->end_ns, 3);
	cr_expect_eq(msd_call_log_at(&call_log, call_log.total - 1)->end_ns,
		     MSD_LOGGED_CALLS + 2);
}

Test(call_log, what_a_module_was_called_outlives_it)
{
	struct msd_call_stats *gone = msd_call_stats_new("gone");

	note(gone, 1);
	msd_call_stats_unref(gone);
	note(call_stats, 2);
	cr_expect_str_eq(msd_call_log_at(&call_log, 0)->call_stats->name, "gone");
	cr_expect_str_eq(msd_logged_function(msd_call_log_at(&call_log, 0)), "other");
	for (uint64_t i = 0; i < MSD_LOGGED_CALLS; i++)
		note(call_stats, i); /* the last reference goes with its place */
	cr_expect_str_eq(msd_call_log_at(&call_log, MSD_LOGGED_CALLS)->call_stats->name,
			 "digits");
}

Test(call_log, all_time_of_a_call_is_that_of_its_stages)
{
	note(call_stats, 1);
	cr_expect_eq(msd_logged_total_ns(msd_call_log_at(&call_log, 0)), 10);
}

Test(call_log, followers_are_told_together)
{
	struct msd_list follower;

	msd_list_init(&follower);
	note(call_stats, 1);
	cr_expect_not(msd_deadline_is_set(&call_log.batch));
	msd_list_append(&call_log.followers.waiting, &follower);
	note(call_stats, 2);
	cr_expect(msd_deadline_is_set(&call_log.batch));
	msd_deadline_clear(&deadlines, &call_log.batch);
	msd_list_remove(&follower);
}
