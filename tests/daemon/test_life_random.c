#include <criterion/criterion.h>

#include "tests/daemon/life_world.h"

/*
 * Long random lives in a world of processes and timers that are variables. After each
 * step: what the life believes is what the world has; somebody is always about to move
 * it on; all who wait are answered once; and an unload ends it, whatever came before.
 * A failure names its seed: MSD_SEED=n runs that one alone.
 */

struct world {
	struct life_world base; /* first */
	unsigned n_queued;
	bool has_old;
};

static void check_idle(struct world *w)
{
	for (uint32_t i = 0; w->n_queued == 0 && i < w->base.life.n_workers; i++)
		end_idle(&w->base, i);
}

static void perform(struct life_world *life, const struct msd_life_action *a)
{
	struct world *w = (struct world *)life;

	switch ((int)a->type) {
	case MSD_ACT_TAKE_OVER:
		cr_assert(w->has_old, "seed %u: took over twice", life->seed);
		w->has_old = false;
		break;
	case MSD_ACT_REFUSE_QUEUED:
	case MSD_ACT_GIVE_UP_QUEUED:
		w->n_queued = 0;
		break;
	case MSD_ACT_PUMP:
		if (life->life.n_open > 0)
			w->n_queued = 0;
		break;
	case MSD_ACT_CHECK_IDLE:
		check_idle(w);
		break;
	default:
		break; /* of no consequence to what is checked here */
	}
}

static void on_gone(struct life_world *life, uint32_t worker)
{
	(void)life, (void)worker;
}

static const struct life_world_ops ops = {.perform = perform, .on_gone = on_gone};

static bool is_settled(enum msd_module_state state)
{
	return state == MSD_STATE_READY || state == MSD_STATE_FAILED ||
	       state == MSD_STATE_QUARANTINED || state == MSD_STATE_ASLEEP;
}

static void expect_end(const struct world *w)
{
	const struct life_world *l = &w->base;

	cr_assert_eq(l->n_waiters + w->n_queued, 0,
		     "seed %u: freed, and somebody waits", l->seed);
	for (uint32_t i = 0; i < l->life.n_workers; i++) {
		cr_assert(!l->at[i].has_process && l->at[i].timer == TIMER_NONE,
			  "seed %u: freed, and worker %u is not", l->seed, i);
	}
}

/* What must be true between any two events. */
static void expect_sound(const struct world *w)
{
	const struct life_world *l = &w->base;
	const enum msd_module_state state = l->life.state;
	const bool is_ending = w->n_queued == 0 && (state == MSD_STATE_DRAINING ||
						    state == MSD_STATE_QUARANTINED);
	uint32_t n_open = 0, n_processes = 0, n_coming = 0;

	if (l->is_free) {
		expect_end(w);
		return;
	}
	for (uint32_t i = 0; i < l->life.n_workers; i++) {
		const enum msd_phase phase = l->workers[i].phase;
		n_open += phase == MSD_PHASE_OPEN ? 1 : 0;
		n_processes += l->at[i].has_process ? 1 : 0;
		n_coming += l->at[i].has_process || l->at[i].timer != TIMER_NONE;
		cr_assert_eq(phase == MSD_PHASE_OPEN || phase == MSD_PHASE_OPENING,
			     l->at[i].has_process, "seed %u: worker %u in phase %d",
			     l->seed, i, (int)phase);
		cr_assert(!l->at[i].has_process || l->at[i].was_killed || !is_ending,
			  "seed %u: worker %u outlives its module", l->seed, i);
		cr_assert_eq(phase == MSD_PHASE_RESTING, l->at[i].timer == TIMER_REST,
			     "seed %u: worker %u rests for ever", l->seed, i);
	}
	cr_assert_eq(l->life.n_open, n_open, "seed %u: miscounted", l->seed);
	cr_assert_eq(msd_life_has_process(&l->life), n_processes > 0);
	cr_assert(state != MSD_STATE_READY || n_open > 0, "seed %u: nobody is ready",
		  l->seed);
	cr_assert(state != MSD_STATE_RESTARTING || n_open == 0, "seed %u: one is ready",
		  l->seed);
	cr_assert(state != MSD_STATE_FAILED || n_coming == 0, "seed %u: undead",
		  l->seed);
	cr_assert(is_settled(state) || n_coming > 0, "seed %u: %s without end", l->seed,
		  msd_module_state_name(state));
	cr_assert(state != MSD_STATE_READY || n_coming == l->life.n_workers,
		  "seed %u: a worker is never started again", l->seed);
	cr_assert(!is_settled(state) || l->n_waiters == 0,
		  "seed %u: %s, and somebody waits for it", l->seed,
		  msd_module_state_name(state));
	cr_assert(state != MSD_STATE_ASLEEP || w->n_queued == 0 || n_processes > 0,
		  "seed %u: it sleeps while it is called", l->seed);
	cr_assert_eq(w->has_old, l->life.is_successor);
}

/* How a process ended, most often by itself. */
static enum msd_loss random_loss(struct life_world *l)
{
	const uint32_t what = draw(l, 8);

	return what == 0   ? MSD_LOSS_DEVICE
	       : what <= 2 ? MSD_LOSS_OVERRUN
			   : MSD_LOSS_DEATH;
}

/* Something happens to a worker, if anything can. What it said before it was killed may
 * still be read. */
static void happen_to(struct world *w, uint32_t i)
{
	struct life_world *l = &w->base;
	const uint32_t what = draw(l, 8);

	if (!l->at[i].has_process || (what == 0 && l->at[i].timer != TIMER_NONE)) {
		ring(l, i);
	} else if (what <= 2 || (l->at[i].was_killed && what != 7)) {
		lose_worker(l, i, random_loss(l));
	} else if (l->workers[i].phase == MSD_PHASE_OPENING && what == 3) {
		take(l, MSD_LIFE_BLAMED, 0, 0);
	} else if (l->workers[i].phase == MSD_PHASE_OPENING) {
		l->at[i].timer = TIMER_NONE;
		take(l, MSD_LIFE_OPENED, i, 0);
	}
}

static bool is_waited_for(enum msd_module_state state)
{
	return state == MSD_STATE_LOADING || state == MSD_STATE_TRIAL ||
	       state == MSD_STATE_RESTARTING;
}

/* Its self-tests pass, or they do not, which ends its workers. */
static void end_trial(struct life_world *l)
{
	if (draw(l, 2) == 0) {
		take(l, MSD_LIFE_TRIED, 0, 0);
		return;
	}
	take(l, MSD_LIFE_BLAMED, 0, 0);
	for (uint32_t i = 0; i < l->life.n_workers; i++)
		kill_worker(l, i);
}

/* A client comes: with a load, a call, or, seldom, an unload. */
static void come(struct world *w)
{
	struct life_world *l = &w->base;

	if (l->life.state == MSD_STATE_ASLEEP) {
		w->n_queued++;
		take(l, MSD_LIFE_WAKE, 0, 0);
	} else if (l->life.state == MSD_STATE_READY && draw(l, 2) == 0) {
		take(l, MSD_LIFE_SLEEP, 0, 0);
	} else if (is_waited_for(l->life.state)) {
		l->n_waiters++;
		w->n_queued++;
	}
	if (draw(l, 12) == 0)
		take(l, MSD_LIFE_UNLOAD, 0, 0);
}

static void go_on(struct world *w)
{
	struct life_world *l = &w->base;
	const uint32_t what = draw(l, 10);

	l->now_ms += draw(l, 100);
	if (what == 0) {
		come(w);
	} else if (what == 1 && l->has_drain_timer) {
		l->has_drain_timer = false;
		take(l, MSD_LIFE_DRAIN_OVER, 0, 0);
	} else if (what == 2 && w->has_old &&
		   (l->life.state == MSD_STATE_LOADING ||
		    l->life.state == MSD_STATE_TRIAL)) {
		w->has_old = false;
		take(l, MSD_LIFE_NAMED, 0, 0);
	} else if (what == 3 && l->life.state == MSD_STATE_TRIAL &&
		   !l->life.is_blamed) {
		end_trial(l);
	} else
		happen_to(w, draw(l, l->life.n_workers));
	expect_sound(w);
}

static void expect_sound_life(unsigned seed)
{
	struct world w = {0};
	struct life_world *l = &w.base;

	life_world_init(l, seed, &ops);
	l->life.is_successor = draw(l, 3) == 0;
	l->life.has_trial = draw(l, 3) == 0;
	w.has_old = l->life.is_successor;
	l->n_waiters = draw(l, 2);
	take(l, MSD_LIFE_LOAD, 0, 0);
	expect_sound(&w);
	for (unsigned i = 0; i < 200 && !l->is_free; i++)
		go_on(&w);
	expect_end_of_life(l);
	expect_sound(&w);
}

Test(life_random, every_life_keeps_its_promises_and_ends)
{
	each_seed(5000, expect_sound_life);
}
