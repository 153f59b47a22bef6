#include <criterion/criterion.h>

#include "tests/daemon/life_course.h"

/* ASLEEP, its two workers ended. */
static void sleep_well(struct course *c)
{
	load(c, 2);
	tell(c, MSD_LIFE_SLEEP, 0);
	lose(c, 0, MSD_LOSS_DEATH);
	lose(c, 1, MSD_LOSS_DEATH);
	cr_assert_eq(c->life.state, MSD_STATE_ASLEEP);
}

Test(life_sleep, ends_all_workers_and_counts_no_death)
{
	struct course c;

	sleep_well(&c);
	cr_expect_eq(c.life.n_deaths, 0);
	cr_expect_eq(c.life.n_restarts, 0);
	cr_expect_not(msd_life_has_process(&c.life));
}

Test(life_sleep, ends_with_a_call_which_waits_until_one_worker_is_there)
{
	struct course c;

	sleep_well(&c);
	tell(&c, MSD_LIFE_WAKE, 0);
	cr_assert_eq(c.life.state, MSD_STATE_RESTARTING);
	cr_expect(action(&c, MSD_ACT_QUEUED_WAIT));
	cr_assert(action(&c, MSD_ACT_START));
	cr_expect_eq(action(&c, MSD_ACT_START)->worker, 0);
	open_worker(&c, 0);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect(action(&c, MSD_ACT_PUMP));
}

static void expect_others_start(const struct course *c)
{
	const struct msd_life_action *pump = action(c, MSD_ACT_PUMP);
	const struct msd_life_action *others = action(c, MSD_ACT_START_OTHERS);

	cr_assert(pump != NULL && others != NULL);
	cr_expect_gt(others, pump, "the waiting call is sent first");
	cr_expect_eq(c->workers[1].phase, MSD_PHASE_STARTING);
}

Test(life_sleep, ends_with_the_first_worker_and_then_the_others_start)
{
	struct course c;

	sleep_well(&c);
	tell(&c, MSD_LIFE_WAKE, 0);
	cr_expect_null(action(&c, MSD_ACT_START_OTHERS));
	cr_expect_eq(c.workers[1].phase, MSD_PHASE_OFF);
	open_worker(&c, 0);
	expect_others_start(&c);
	open_worker(&c, 1);
	cr_expect_null(action(&c, MSD_ACT_START_OTHERS));
	cr_expect_eq(c.life.n_open, 2);
}

Test(life_sleep, ends_with_the_next_first_worker_if_the_first_one_dies)
{
	struct course c;

	sleep_well(&c);
	tell(&c, MSD_LIFE_WAKE, 0);
	tell(&c, MSD_LIFE_STARTED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_START_AGAIN));
	cr_expect_null(action(&c, MSD_ACT_START_OTHERS));
	open_worker(&c, 0);
	expect_others_start(&c);
}

Test(life_sleep, before_a_loss_of_all_workers_starts_no_worker_twice)
{
	struct course c;

	sleep_well(&c);
	tell(&c, MSD_LIFE_WAKE, 0);
	open_worker(&c, 0);
	open_worker(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_assert_eq(c.life.state, MSD_STATE_RESTARTING);
	open_worker(&c, 0);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect_null(action(&c, MSD_ACT_START_OTHERS));
}

Test(life_sleep, that_is_broken_while_it_begins_ends_with_the_last_worker)
{
	struct course c;

	load(&c, 2);
	tell(&c, MSD_LIFE_SLEEP, 0);
	tell(&c, MSD_LIFE_WAKE, 0);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_ASLEEP);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_RESTARTING);
	cr_expect(action(&c, MSD_ACT_START));
}

Test(life_sleep, that_was_broken_is_not_broken_the_next_time)
{
	struct course c;

	load(&c, 1);
	tell(&c, MSD_LIFE_SLEEP, 0);
	tell(&c, MSD_LIFE_WAKE, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	open_worker(&c, 0);
	tell(&c, MSD_LIFE_SLEEP, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_ASLEEP);
}

Test(life_sleep, takes_no_worker_that_was_to_be_started)
{
	struct course c;

	load(&c, 2);
	c.life.max_deaths = 8;
	lose(&c, 1, MSD_LOSS_DEATH);
	open_worker(&c, 1);
	lose(&c, 1, MSD_LOSS_DEATH); /* it rests */
	tell(&c, MSD_LIFE_SLEEP, 0);
	cr_expect(action(&c, MSD_ACT_STOP_TIMERS));
	lose(&c, 0, MSD_LOSS_DEATH);
	tell(&c, MSD_LIFE_WAKE, 0);
	cr_expect_eq(c.life.state, MSD_STATE_RESTARTING);
	open_worker(&c, 0);
	expect_others_start(&c);
}
