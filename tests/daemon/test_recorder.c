#include <criterion/criterion.h>

#include "daemon/supervisor/module/recorder.h"
#include "daemon/supervisor/module/tally.h"

static struct msd_recorder recorder;
static struct msd_deadlines deadlines;
static uv_loop_t loop;
static struct msd_tally *tally;

static void begin(void)
{
	(void)uv_loop_init(&loop);
	msd_deadlines_init(&deadlines, &loop);
	msd_recorder_init(&recorder);
	tally = msd_tally_new("digits");
	cr_assert_not_null(tally);
}

static void end(void)
{
	msd_recorder_finish(&recorder);
	msd_tally_unref(tally);
	msd_deadlines_close(&deadlines);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
}

TestSuite(recorder, .init = begin, .fini = end);

static void note(struct msd_tally *of, uint64_t end_ns)
{
	struct msd_past_call *call = msd_recorder_next(&recorder, &deadlines, of);

	*call = (struct msd_past_call){
		.end_ns = end_ns, .tally = of, .spent_ns = {1, 2, 3, 4}};
}

Test(recorder, the_last_calls_are_kept_by_their_numbers)
{
	for (uint64_t i = 0; i < MSD_PAST_CALLS + 3; i++)
		note(tally, i);
	cr_expect_eq(recorder.total, MSD_PAST_CALLS + 3);
	cr_expect_eq(msd_recorder_oldest(&recorder), 3);
	cr_expect_eq(msd_recorder_at(&recorder, 3)->end_ns, 3);
	cr_expect_eq(msd_recorder_at(&recorder, recorder.total - 1)->end_ns,
		     MSD_PAST_CALLS + 2);
}

Test(recorder, what_a_module_was_called_outlives_it)
{
	struct msd_tally *gone = msd_tally_new("gone");

	note(gone, 1);
	msd_tally_unref(gone);
	note(tally, 2);
	cr_expect_str_eq(msd_recorder_at(&recorder, 0)->tally->name, "gone");
	cr_expect_str_eq(msd_past_function(msd_recorder_at(&recorder, 0)), "other");
	for (uint64_t i = 0; i < MSD_PAST_CALLS; i++)
		note(tally, i); /* the last reference goes with its place */
	cr_expect_str_eq(msd_recorder_at(&recorder, MSD_PAST_CALLS)->tally->name,
			 "digits");
}

Test(recorder, all_time_of_a_call_is_that_of_its_stages)
{
	note(tally, 1);
	cr_expect_eq(msd_past_total_ns(msd_recorder_at(&recorder, 0)), 10);
}

Test(recorder, followers_are_told_together)
{
	struct msd_list follower;

	msd_list_init(&follower);
	note(tally, 1);
	cr_expect_not(msd_deadline_is_set(&recorder.batch));
	msd_list_append(&recorder.followers.waiting, &follower);
	note(tally, 2);
	cr_expect(msd_deadline_is_set(&recorder.batch));
	msd_deadline_clear(&deadlines, &recorder.batch);
	msd_list_remove(&follower);
}
