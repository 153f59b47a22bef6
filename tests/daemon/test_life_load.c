#include <criterion/criterion.h>

#include "tests/daemon/life_course.h"

Test(life_load, the_first_worker_opens_the_artifact_before_the_others_try)
{
	struct course c;

	course_init(&c, 3);
	tell(&c, MSD_LIFE_LOAD, 0);
	cr_expect(action(&c, MSD_ACT_START));
	tell(&c, MSD_LIFE_STARTED, 0);
	cr_expect_null(action(&c, MSD_ACT_START_OTHERS));
	tell(&c, MSD_LIFE_OPENED, 0);
	cr_expect(action(&c, MSD_ACT_START_OTHERS));
	open_worker(&c, 2);
	cr_expect_eq(c.life.state, MSD_STATE_LOADING, "one is still opening");
	open_worker(&c, 1);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
}

Test(life_load, all_workers_of_a_load_share_its_time)
{
	struct course c;

	begin(&c, 2);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 5000);
	c.now_ms += 1200;
	tell(&c, MSD_LIFE_OPENED, 0);
	tell(&c, MSD_LIFE_STARTED, 1);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 3800);
}

Test(life_load, a_worker_that_starts_late_has_no_time_left)
{
	struct course c;

	course_init(&c, 2);
	tell(&c, MSD_LIFE_LOAD, 0);
	open_worker(&c, 0);
	c.now_ms += 6000;
	tell(&c, MSD_LIFE_STARTED, 1);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 0);
}

Test(life_load, a_refusal_that_somebody_waits_for_is_told_and_forgotten)
{
	struct course c;

	begin(&c, 1);
	tell(&c, MSD_LIFE_BLAMED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_BLAME_DEATH), "its own cause stays");
	cr_expect(action(&c, MSD_ACT_FREE));
}

Test(life_load, of_a_death_while_loading_the_module_stays_with_its_log)
{
	struct course c;

	begin(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_FREE));
}

Test(life_load, a_load_fails_when_its_last_process_is_gone)
{
	struct course c;

	course_init(&c, 2);
	tell(&c, MSD_LIFE_LOAD, 0);
	open_worker(&c, 0);
	tell(&c, MSD_LIFE_STARTED, 1);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_LOADING);
	cr_expect(action(&c, MSD_ACT_KILL_LOADING));
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_BLAME_DEATH), "the first cause is the cause");
}

Test(life_load, what_opens_after_another_failed_makes_nothing_ready)
{
	struct course c;

	course_init(&c, 3);
	tell(&c, MSD_LIFE_LOAD, 0);
	open_worker(&c, 0);
	tell(&c, MSD_LIFE_STARTED, 1);
	tell(&c, MSD_LIFE_STARTED, 2);
	lose(&c, 1, MSD_LOSS_DEATH);
	lose(&c, 0, MSD_LOSS_DEATH);
	tell(&c, MSD_LIFE_OPENED, 2); /* it said so before it was killed */
	cr_expect_eq(c.as.n, 0);
	cr_expect_eq(c.life.state, MSD_STATE_LOADING);
}

Test(life_load, a_successor_takes_over_when_it_is_ready)
{
	struct course c;

	course_init(&c, 1);
	c.life.is_successor = true;
	tell(&c, MSD_LIFE_LOAD, 0);
	open_worker(&c, 0);
	cr_expect(action(&c, MSD_ACT_TAKE_OVER));
	lose(&c, 0, MSD_LOSS_DEATH);
	open_worker(&c, 0);
	cr_expect_null(action(&c, MSD_ACT_TAKE_OVER), "it did so before");
}

Test(life_load, a_successor_that_fails_leaves_no_trace)
{
	struct course c;

	course_init(&c, 1);
	c.life.is_successor = true;
	tell(&c, MSD_LIFE_LOAD, 0);
	tell(&c, MSD_LIFE_STARTED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_FREE));
}

Test(life_load, what_is_forgotten_names_its_successor_before)
{
	struct course c;

	begin(&c, 1);
	tell(&c, MSD_LIFE_BLAMED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_assert_geq(c.as.n, 2);
	cr_expect_eq(c.as.all[c.as.n - 2].type, MSD_ACT_NAME_SUCCESSOR);
	cr_expect_eq(c.as.all[c.as.n - 1].type, MSD_ACT_FREE);
}

Test(life_load, what_stays_to_be_asked_for_keeps_its_name)
{
	struct course c;

	begin(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_NAME_SUCCESSOR));
}

Test(life_load, a_successor_that_was_named_takes_nothing_over)
{
	struct course c;

	course_init(&c, 1);
	c.life.is_successor = true;
	tell(&c, MSD_LIFE_LOAD, 0);
	tell(&c, MSD_LIFE_STARTED, 0);
	tell(&c, MSD_LIFE_NAMED, 0);
	tell(&c, MSD_LIFE_OPENED, 0);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect_null(action(&c, MSD_ACT_TAKE_OVER), "nothing is there to be taken");
}

Test(life_load, a_successor_that_was_named_dies_as_any_other)
{
	struct course c;

	course_init(&c, 1);
	c.life.is_successor = true;
	tell(&c, MSD_LIFE_LOAD, 0);
	tell(&c, MSD_LIFE_STARTED, 0);
	tell(&c, MSD_LIFE_NAMED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_FREE), "there are logs to ask for");
}
