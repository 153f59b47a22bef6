#include <criterion/criterion.h>

#include "daemon/supervisor/module/life_step.h"

/* What takes more than one event: life_step over a while, by a clock of its own. */
struct course {
	struct msd_life_worker workers[3];
	struct msd_life life;
	struct msd_life_actions as; /* of the last step */
	uint64_t now_ms;
};

static void course_init(struct course *c, uint32_t n_workers)
{
	*c = (struct course){.now_ms = 1000};
	c->life = (struct msd_life){.workers = c->workers,
				    .n_workers = n_workers,
				    .load_limit_ms = 5000,
				    .max_deaths = 5};
}

static void tell(struct course *c, enum msd_life_event_type type, uint32_t worker)
{
	msd_life_step(&c->life,
		      &(struct msd_life_event){.type = type, .worker = worker},
		      c->now_ms, &c->as);
}

static void lose(struct course *c, uint32_t worker, enum msd_loss loss)
{
	msd_life_step(&c->life,
		      &(struct msd_life_event){.type = MSD_LIFE_LOST,
					       .worker = worker,
					       .loss = loss,
					       .has_loader = true},
		      c->now_ms, &c->as);
}

static const struct msd_life_action *action(const struct course *c,
					    enum msd_life_action_type type)
{
	for (uint32_t i = 0; i < c->as.n; i++) {
		if (c->as.all[i].type == type)
			return &c->as.all[i];
	}
	return NULL;
}

static void open_worker(struct course *c, uint32_t worker)
{
	tell(c, MSD_LIFE_STARTED, worker);
	tell(c, MSD_LIFE_OPENED, worker);
}

/* LOADING, the first of its workers opening. */
static void begin(struct course *c, uint32_t n_workers)
{
	course_init(c, n_workers);
	tell(c, MSD_LIFE_LOAD, 0);
	tell(c, MSD_LIFE_STARTED, 0);
}

/* READY, with all its workers open. */
static void load(struct course *c, uint32_t n_workers)
{
	course_init(c, n_workers);
	tell(c, MSD_LIFE_LOAD, 0);
	for (uint32_t i = 0; i < n_workers; i++)
		open_worker(c, i);
	cr_assert_eq(c->life.state, MSD_STATE_READY);
}

Test(life_course, the_first_worker_opens_the_artifact_before_the_others_try)
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

Test(life_course, all_workers_of_a_load_share_its_time)
{
	struct course c;

	begin(&c, 2);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 5000);
	c.now_ms += 1200;
	tell(&c, MSD_LIFE_OPENED, 0);
	tell(&c, MSD_LIFE_STARTED, 1);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 3800);
}

Test(life_course, a_worker_that_starts_late_has_no_time_left)
{
	struct course c;

	course_init(&c, 2);
	tell(&c, MSD_LIFE_LOAD, 0);
	open_worker(&c, 0);
	c.now_ms += 6000;
	tell(&c, MSD_LIFE_STARTED, 1);
	cr_expect_eq(action(&c, MSD_ACT_SET_OVERDUE)->least_ms, 0);
}

Test(life_course, a_refusal_that_somebody_waits_for_is_told_and_forgotten)
{
	struct course c;

	begin(&c, 1);
	tell(&c, MSD_LIFE_BLAMED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_BLAME_DEATH), "its own cause stays");
	cr_expect(action(&c, MSD_ACT_FREE));
}

Test(life_course, of_a_death_while_loading_the_module_stays_with_its_log)
{
	struct course c;

	begin(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_FREE));
}

Test(life_course, a_load_fails_when_its_last_process_is_gone)
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

Test(life_course, what_opens_after_another_failed_makes_nothing_ready)
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

Test(life_course, a_successor_takes_over_when_it_is_ready)
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

Test(life_course, a_successor_that_fails_leaves_no_trace)
{
	struct course c;

	course_init(&c, 1);
	c.life.is_successor = true;
	tell(&c, MSD_LIFE_LOAD, 0);
	tell(&c, MSD_LIFE_STARTED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_FREE));
}

Test(life_course, what_is_forgotten_names_its_successor_before)
{
	struct course c;

	begin(&c, 1);
	tell(&c, MSD_LIFE_BLAMED, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_assert_geq(c.as.n, 2);
	cr_expect_eq(c.as.all[c.as.n - 2].type, MSD_ACT_NAME_SUCCESSOR);
	cr_expect_eq(c.as.all[c.as.n - 1].type, MSD_ACT_FREE);
}

Test(life_course, what_stays_to_be_asked_for_keeps_its_name)
{
	struct course c;

	begin(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_FAILED);
	cr_expect_null(action(&c, MSD_ACT_NAME_SUCCESSOR));
}

Test(life_course, a_successor_that_was_named_takes_nothing_over)
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

Test(life_course, a_successor_that_was_named_dies_as_any_other)
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

Test(life_course, with_another_worker_left_a_death_changes_no_state)
{
	struct course c;

	load(&c, 2);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect_null(action(&c, MSD_ACT_QUEUED_WAIT));
	cr_expect_eq(action(&c, MSD_ACT_START_AGAIN)->worker, 1);
}

Test(life_course, the_first_restart_is_at_once_then_each_rests_twice_as_long)
{
	const uint64_t most_ms[] = {50, 100, 200, 400};
	struct course c;

	load(&c, 1);
	c.life.max_deaths = 8;
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_START_AGAIN));
	for (unsigned i = 0; i < 4; i++) {
		open_worker(&c, 0);
		lose(&c, 0, MSD_LOSS_DEATH);
		cr_assert(action(&c, MSD_ACT_REST));
		cr_expect_eq(action(&c, MSD_ACT_REST)->most_ms, most_ms[i]);
		cr_expect_eq(action(&c, MSD_ACT_REST)->least_ms, most_ms[i] / 2);
		tell(&c, MSD_LIFE_RESTED, 0);
	}
}

Test(life_course, no_rest_is_longer_than_half_a_minute)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 20; i++) {
		c.now_ms += 30000; /* too few deaths a minute for a quarantine */
		lose(&c, 0, MSD_LOSS_DEATH);
		if (action(&c, MSD_ACT_REST) != NULL)
			tell(&c, MSD_LIFE_RESTED, 0);
		open_worker(&c, 0);
	}
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_eq(action(&c, MSD_ACT_REST)->most_ms, 30000);
}

Test(life_course, a_minute_of_health_lets_the_next_restart_be_at_once)
{
	struct course c;

	load(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	open_worker(&c, 0);
	c.now_ms += 60001;
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_START_AGAIN));
}

Test(life_course, after_a_lost_device_the_restart_is_always_at_once)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 3; i++) {
		lose(&c, 0, MSD_LOSS_DEVICE);
		cr_expect(action(&c, MSD_ACT_START_AGAIN));
		open_worker(&c, 0);
	}
}

Test(life_course, deaths_by_a_clients_deadlines_neither_rest_nor_quarantine)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 20; i++) {
		lose(&c, 0, MSD_LOSS_OVERRUN);
		cr_expect(action(&c, MSD_ACT_START_AGAIN), "overrun %u", i);
		open_worker(&c, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect_eq(c.life.n_deaths, 0);
	cr_expect_eq(c.life.n_restarts, 20);
}

Test(life_course, a_death_of_its_own_behind_deadlines_is_its_first)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 4; i++) {
		lose(&c, 0, MSD_LOSS_OVERRUN);
		open_worker(&c, 0);
	}
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_START_AGAIN), "at once, as after any first one");
	open_worker(&c, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_REST));
}

Test(life_course, the_fifth_death_within_a_minute_quarantines)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 5; i++) {
		cr_assert_neq(c.life.state, MSD_STATE_QUARANTINED, "death %u", i);
		c.now_ms += 14000;
		lose(&c, 0, MSD_LOSS_DEATH);
		if (action(&c, MSD_ACT_REST) != NULL)
			tell(&c, MSD_LIFE_RESTED, 0);
		if (c.life.state != MSD_STATE_QUARANTINED)
			open_worker(&c, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_QUARANTINED);
	cr_expect(action(&c, MSD_ACT_BLAME_DEATHS));
}

Test(life_course, the_others_of_a_quarantined_module_end_when_they_are_idle)
{
	struct course c;

	load(&c, 2);
	c.life.max_deaths = 1;
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_assert_eq(c.life.state, MSD_STATE_QUARANTINED);
	cr_expect(action(&c, MSD_ACT_CHECK_IDLE));
	tell(&c, MSD_LIFE_IDLE, 1);
	cr_expect_eq(action(&c, MSD_ACT_KILL_IDLE)->worker, 1);
}

Test(life_course, five_deaths_in_a_whole_minute_do_not)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 10; i++) {
		c.now_ms += 15000;
		lose(&c, 0, MSD_LOSS_DEATH);
		if (action(&c, MSD_ACT_REST) != NULL)
			tell(&c, MSD_LIFE_RESTED, 0);
		open_worker(&c, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_READY);
}

Test(life_course, five_in_a_row_that_never_opened_quarantine_however_slow)
{
	struct course c;

	load(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	for (unsigned i = 0; i < 5; i++) {
		cr_assert_eq(c.life.state, MSD_STATE_RESTARTING, "death %u", i);
		tell(&c, MSD_LIFE_STARTED, 0);
		c.now_ms += 300000;
		lose(&c, 0, MSD_LOSS_DEATH);
		if (action(&c, MSD_ACT_REST) != NULL)
			tell(&c, MSD_LIFE_RESTED, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_QUARANTINED);
}

Test(life_course, one_that_opened_ends_the_row_of_those_that_did_not)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 20; i++) {
		lose(&c, 0, MSD_LOSS_DEATH);
		if (action(&c, MSD_ACT_REST) != NULL)
			tell(&c, MSD_LIFE_RESTED, 0);
		tell(&c, MSD_LIFE_STARTED, 0);
		c.now_ms += 300000;
		if (i % 4 == 3)
			tell(&c, MSD_LIFE_OPENED, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_READY);
}

Test(life_course, that_no_worker_can_be_started_does_not_quarantine)
{
	struct course c;

	load(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	for (unsigned i = 0; i < 20; i++) {
		tell(&c, MSD_LIFE_BLAMED, 0);
		lose(&c, 0, MSD_LOSS_NOT_STARTED);
		tell(&c, MSD_LIFE_RESTED, 0);
	}
	cr_expect_eq(c.life.state, MSD_STATE_RESTARTING);
}

Test(life_course, a_drained_module_is_freed_with_its_last_process)
{
	struct course c;

	load(&c, 2);
	tell(&c, MSD_LIFE_UNLOAD, 0);
	cr_expect_null(action(&c, MSD_ACT_FREE));
	tell(&c, MSD_LIFE_IDLE, 0);
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect_null(action(&c, MSD_ACT_FREE));
	tell(&c, MSD_LIFE_IDLE, 1);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_expect_eq(c.as.all[c.as.n - 1].type, MSD_ACT_FREE);
}
