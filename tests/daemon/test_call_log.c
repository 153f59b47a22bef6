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
	msd_call_log_init(&call_log, MSD_ALL_CALLS);
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

static uint64_t count(const struct msd_call_stats *of)
{
	uint64_t n = 0;

	for (const struct msd_call_slot *slot = msd_call_log_find(&call_log, 0);
	     slot != NULL; slot = msd_call_log_after(&call_log, slot))
		n += slot->call.call_stats == of;
	return n;
}

Test(call_log, the_last_calls_are_kept_by_their_numbers)
{
	for (uint64_t i = 0; i < MSD_LOGGED_CALLS + 3; i++)
		note(call_stats, i);
	cr_expect_eq(call_log.total, MSD_LOGGED_CALLS + 3);
	cr_expect_eq(msd_call_log_find(&call_log, 0)->number, 3);
	uint64_t number = 100;
	for (const struct msd_call_slot *slot = msd_call_log_find(&call_log, number);
	     slot != NULL; slot = msd_call_log_after(&call_log, slot)) {
		cr_assert_eq(slot->number, number);
		cr_assert_eq(slot->call.end_ns, number++);
	}
	cr_expect_eq(number, call_log.total);
	cr_expect_null(msd_call_log_find(&call_log, call_log.total));
}

Test(call_log, a_busy_module_drops_no_call_of_others)
{
	struct msd_call_stats *rare = msd_call_stats_new("rare");

	for (uint64_t i = 0; i < 3; i++)
		note(rare, i);
	for (uint64_t i = 0; i < 3 * MSD_LOGGED_CALLS; i++)
		note(call_stats, i);
	cr_expect_eq(count(rare), 3);
	cr_expect_eq(count(call_stats), MSD_LOGGED_CALLS - 3);
	for (uint64_t i = 0; i < 3 * MSD_LOGGED_CALLS; i++)
		note(rare, i);
	cr_expect_eq(count(rare), MSD_LOGGED_CALLS / 2);
	cr_expect_eq(count(call_stats), MSD_LOGGED_CALLS / 2);
	cr_expect_eq(call_stats->lanes[MSD_ALL_CALLS].dropped_end,
		     msd_call_log_find(&call_log, 0)->number);
	msd_call_stats_unref(rare);
}

enum { MODULES = 50 };

/* Each module makes a different number of calls, in varying order. */
static void note_each(struct msd_call_stats *each[MODULES], uint64_t n_made[MODULES])
{
	for (uint64_t i = 0; i < 20u * MSD_LOGGED_CALLS; i++) {
		const uint64_t at = i * 31 % (i % MODULES + 1);
		note(each[at], i);
		n_made[at]++;
	}
}

Test(call_log, each_module_gets_its_share)
{
	struct msd_call_stats *each[MODULES];
	uint64_t n_made[MODULES] = {0}, total = 0;

	for (unsigned i = 0; i < MODULES; i++)
		each[i] = msd_call_stats_new("m");
	note_each(each, n_made);
	for (unsigned i = 0; i < MODULES; i++) {
		const uint64_t share = MSD_LOGGED_CALLS / MODULES, n = count(each[i]);
		cr_expect_geq(n, n_made[i] < share ? n_made[i] : share, "%u", i);
		total += n;
		msd_call_log_leave(&call_log, each[i]);
		msd_call_stats_unref(each[i]);
	}
	cr_expect_eq(total, MSD_LOGGED_CALLS);
	cr_expect_eq(call_log.n_lanes, 1, "the calls of all that are gone");
	cr_expect_eq(call_log.left.n, MSD_LOGGED_CALLS);
	note(call_stats, 1);
	cr_expect_eq(call_log.left.n, MSD_LOGGED_CALLS - 1);
}

Test(call_log, calls_outlive_their_module)
{
	struct msd_call_stats *gone = msd_call_stats_new("gone");

	note(gone, 1);
	msd_call_log_leave(&call_log, gone);
	msd_call_log_leave(&call_log, NULL);
	msd_call_stats_unref(gone);
	note(call_stats, 2);
	const struct msd_call_slot *slot = msd_call_log_find(&call_log, 0);
	cr_expect_str_eq(slot->call.call_stats->name, "gone");
	cr_expect_str_eq(msd_logged_function(&slot->call), "other");
	for (uint64_t i = 0; i < MSD_LOGGED_CALLS; i++)
		note(call_stats, i);
	cr_expect_eq(msd_call_log_find(&call_log, 0)->number, 0);
}

Test(call_log, all_time_of_a_call_is_that_of_its_stages)
{
	note(call_stats, 1);
	cr_expect_eq(msd_logged_total_ns(&msd_call_log_find(&call_log, 0)->call), 10);
}

Test(call_log, the_last_slow_calls_are_kept)
{
	const struct msd_logged_call call = {.call_stats = call_stats};
	struct msd_call_log slow;

	msd_call_log_init(&slow, MSD_SLOW_ONES);
	for (uint64_t i = 0; i < MSD_SLOW_CALLS + 2; i++)
		msd_call_log_add_slow(&slow, &call, (struct msd_span){0});
	cr_expect_eq(slow.total, MSD_SLOW_CALLS + 2);
	cr_expect_eq(msd_call_log_find(&slow, 0)->number, 2);
	cr_expect_str_eq(msd_call_log_find(&slow, 0)->arguments, "");
	cr_expect_eq(call_stats->n_refs, 1 + MSD_SLOW_CALLS);
	msd_call_log_finish(&slow);
	cr_expect_eq(call_stats->n_refs, 1);
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
