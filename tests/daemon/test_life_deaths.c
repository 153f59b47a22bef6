#include <criterion/criterion.h>

#include "tests/daemon/life_course.h"

Test(life_deaths, with_another_worker_left_a_death_changes_no_state)
{
	struct course c;

	load(&c, 2);
	lose(&c, 1, MSD_LOSS_DEATH);
	cr_expect_eq(c.life.state, MSD_STATE_READY);
	cr_expect_null(action(&c, MSD_ACT_QUEUED_WAIT));
	cr_expect_eq(action(&c, MSD_ACT_START_AGAIN)->worker, 1);
}

Test(life_deaths, the_first_restart_is_at_once_then_each_rests_twice_as_long)
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

Test(life_deaths, no_rest_is_longer_than_half_a_minute)
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

Test(life_deaths, a_minute_of_health_lets_the_next_restart_be_at_once)
{
	struct course c;

	load(&c, 1);
	lose(&c, 0, MSD_LOSS_DEATH);
	open_worker(&c, 0);
	c.now_ms += 60001;
	lose(&c, 0, MSD_LOSS_DEATH);
	cr_expect(action(&c, MSD_ACT_START_AGAIN));
}

Test(life_deaths, after_a_lost_device_the_restart_is_always_at_once)
{
	struct course c;

	load(&c, 1);
	for (unsigned i = 0; i < 3; i++) {
		lose(&c, 0, MSD_LOSS_DEVICE);
		cr_expect(action(&c, MSD_ACT_START_AGAIN));
		open_worker(&c, 0);
	}
}

Test(life_deaths, deaths_by_a_clients_deadlines_neither_rest_nor_quarantine)
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

Test(life_deaths, what_a_peer_bears_the_blame_for_neither_rests_nor_quarantines)
{
	static const struct {
		enum msd_loss loss;
		bool is_peers;
	} rows[] = {{MSD_LOSS_DEATH, true},
		    {MSD_LOSS_DEVICE, true},
		    {MSD_LOSS_OVERRUN, false},
		    {MSD_LOSS_TOO_LONG, false},
		    {MSD_LOSS_IN_WAY, false}};

	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct course c;

		load(&c, 1);
		for (unsigned i = 0; i < 20; i++) {
			lose_to(&c, 0, rows[k].loss, rows[k].is_peers);
			cr_expect(action(&c, MSD_ACT_START_AGAIN), "row %zu", k);
			open_worker(&c, 0);
		}
		cr_expect_eq(c.life.state, MSD_STATE_READY, "row %zu", k);
		cr_expect_eq(c.life.n_deaths, 0, "row %zu", k);
	}
}

Test(life_deaths, a_death_of_its_own_behind_deadlines_is_its_first)
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

Test(life_deaths, the_fifth_death_within_a_minute_quarantines)
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

Test(life_deaths, the_others_of_a_quarantined_module_end_when_they_are_idle)
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

Test(life_deaths, five_deaths_in_a_whole_minute_do_not)
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

Test(life_deaths, five_in_a_row_that_never_opened_quarantine_however_slow)
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

Test(life_deaths, one_that_opened_ends_the_row_of_those_that_did_not)
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

Test(life_deaths, that_no_worker_can_be_started_does_not_quarantine)
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

Test(life_deaths, a_drained_module_is_freed_with_its_last_process)
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
