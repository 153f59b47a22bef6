#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/supervisor/module/life_step.h"

/*
 * Long random lives in a world of processes and timers that are variables. After each
 * step: what the life believes is what the world has; somebody is always about to move
 * it on; all who wait are answered once; and an unload ends it, whatever came before.
 * A failure names its seed: MSD_SEED=n runs that one alone.
 */

#define MAX_WORKERS 4u

enum timer { TIMER_NONE, TIMER_OVERDUE, TIMER_REST, TIMER_NOT_STARTED };

struct world {
	unsigned seed;
	uint32_t random;
	uint64_t now_ms;
	struct msd_life life;
	struct msd_life_worker workers[MAX_WORKERS];
	struct {
		bool has_process, was_killed;
		enum timer timer;
	} at[MAX_WORKERS];
	bool has_drain_timer, has_old, is_free;
	unsigned n_waiters, n_queued, n_unloaders;
};

/* xorshift: the same lives on every machine. */
static uint32_t draw(struct world *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->random % below;
}

static void take(struct world *w, enum msd_life_event_type type, uint32_t worker,
		 enum msd_loss loss);

static void start(struct world *w, uint32_t i)
{
	cr_assert_not(w->at[i].has_process, "seed %u: two processes", w->seed);
	cr_assert_eq(w->at[i].timer, TIMER_NONE, "seed %u: a timer is on", w->seed);
	if (draw(w, 8) == 0) {
		take(w, MSD_LIFE_BLAMED, 0, 0);
		w->at[i].timer = TIMER_NOT_STARTED;
		return;
	}
	w->at[i].has_process = true;
	w->at[i].was_killed = false;
	take(w, MSD_LIFE_STARTED, i, 0);
}

static void kill_all(struct world *w)
{
	for (uint32_t i = 0; i < w->life.n_workers; i++)
		w->at[i].was_killed = w->at[i].has_process;
}

static void stop_timers(struct world *w)
{
	for (uint32_t i = 0; i < w->life.n_workers; i++)
		w->at[i].timer = TIMER_NONE;
}

static void check_idle(struct world *w)
{
	if (w->n_queued > 0)
		return;
	for (uint32_t i = 0; i < w->life.n_workers; i++) {
		if (w->at[i].has_process && (w->life.state == MSD_STATE_DRAINING ||
					     w->life.state == MSD_STATE_QUARANTINED))
			take(w, MSD_LIFE_IDLE, i, 0);
	}
}

static void perform(struct world *w, const struct msd_life_action *a)
{
	const uint32_t i = a->worker;

	cr_assert_not(w->is_free, "seed %u: an action behind the last one", w->seed);
	switch ((int)a->type) {
	case MSD_ACT_START:
	case MSD_ACT_START_AGAIN:
		start(w, i);
		break;
	case MSD_ACT_START_OTHERS:
		for (uint32_t k = 1; k < w->life.n_workers; k++)
			start(w, k);
		break;
	case MSD_ACT_SET_OVERDUE:
		w->at[i].timer = TIMER_OVERDUE;
		break;
	case MSD_ACT_REST:
		cr_assert_leq(a->least_ms, a->most_ms);
		w->at[i].timer = TIMER_REST;
		break;
	case MSD_ACT_STOP_TIMERS:
		stop_timers(w);
		break;
	case MSD_ACT_SET_DRAIN:
		w->has_drain_timer = true;
		break;
	case MSD_ACT_KILL_OVERDUE:
	case MSD_ACT_KILL_IDLE:
		cr_assert(w->at[i].has_process, "seed %u: killed nobody", w->seed);
		w->at[i].was_killed = true;
		break;
	case MSD_ACT_KILL_LOADING:
	case MSD_ACT_KILL_DRAINED:
		kill_all(w);
		break;
	case MSD_ACT_TAKE_OVER:
		cr_assert(w->has_old, "seed %u: took over twice", w->seed);
		w->has_old = false;
		break;
	case MSD_ACT_ANSWER_WAITERS:
		w->n_waiters = 0;
		break;
	case MSD_ACT_ANSWER_UNLOADERS:
		w->n_unloaders = 0;
		break;
	case MSD_ACT_REFUSE_QUEUED:
	case MSD_ACT_GIVE_UP_QUEUED:
		w->n_queued = 0;
		break;
	case MSD_ACT_PUMP:
		if (w->life.n_open > 0)
			w->n_queued = 0;
		break;
	case MSD_ACT_CHECK_IDLE:
		check_idle(w);
		break;
	case MSD_ACT_FREE:
		w->is_free = true;
		break;
	default:
		break; /* of no consequence to what is checked here */
	}
}

static void take(struct world *w, enum msd_life_event_type type, uint32_t worker,
		 enum msd_loss loss)
{
	const struct msd_life_event e = {.type = type,
					 .worker = worker,
					 .loss = loss,
					 .has_loader = w->n_waiters > 0};
	const enum msd_module_state was = w->life.state;
	struct msd_life_actions as;

	cr_assert(msd_life_may_come(&w->life, &e), "seed %u: event %d in %s", w->seed,
		  (int)type, msd_module_state_name(was));
	msd_life_step(&w->life, &e, w->now_ms, &as);
	cr_assert(was == w->life.state || msd_life_may_move(was, w->life.state),
		  "seed %u: %s to %s", w->seed, msd_module_state_name(was),
		  msd_module_state_name(w->life.state));
	for (uint32_t i = 0; i < as.n; i++)
		perform(w, &as.all[i]);
}

static bool is_settled(enum msd_module_state state)
{
	return state == MSD_STATE_READY || state == MSD_STATE_FAILED ||
	       state == MSD_STATE_QUARANTINED;
}

static void expect_end(const struct world *w)
{
	cr_assert_eq(w->n_waiters + w->n_queued + w->n_unloaders, 0,
		     "seed %u: freed, and somebody waits", w->seed);
	for (uint32_t i = 0; i < w->life.n_workers; i++) {
		cr_assert(!w->at[i].has_process && w->at[i].timer == TIMER_NONE,
			  "seed %u: freed, and worker %u is not", w->seed, i);
	}
}

/* What must be true between any two events. */
static void expect_sound(const struct world *w)
{
	const enum msd_module_state state = w->life.state;
	const bool is_ending = w->n_queued == 0 && (state == MSD_STATE_DRAINING ||
						    state == MSD_STATE_QUARANTINED);
	uint32_t n_open = 0, n_processes = 0, n_coming = 0;

	if (w->is_free) {
		expect_end(w);
		return;
	}
	for (uint32_t i = 0; i < w->life.n_workers; i++) {
		const enum msd_phase phase = w->workers[i].phase;
		n_open += phase == MSD_PHASE_OPEN ? 1 : 0;
		n_processes += w->at[i].has_process ? 1 : 0;
		n_coming += w->at[i].has_process || w->at[i].timer != TIMER_NONE;
		cr_assert_eq(phase == MSD_PHASE_OPEN || phase == MSD_PHASE_OPENING,
			     w->at[i].has_process, "seed %u: worker %u in phase %d",
			     w->seed, i, (int)phase);
		cr_assert(!w->at[i].has_process || w->at[i].was_killed || !is_ending,
			  "seed %u: worker %u outlives its module", w->seed, i);
		cr_assert_eq(phase == MSD_PHASE_RESTING, w->at[i].timer == TIMER_REST,
			     "seed %u: worker %u rests for ever", w->seed, i);
	}
	cr_assert_eq(w->life.n_open, n_open, "seed %u: miscounted", w->seed);
	cr_assert_eq(msd_life_has_process(&w->life), n_processes > 0);
	cr_assert(state != MSD_STATE_READY || n_open > 0, "seed %u: nobody is ready",
		  w->seed);
	cr_assert(state != MSD_STATE_RESTARTING || n_open == 0, "seed %u: one is ready",
		  w->seed);
	cr_assert(state != MSD_STATE_FAILED || n_coming == 0, "seed %u: undead",
		  w->seed);
	cr_assert(is_settled(state) || n_coming > 0, "seed %u: %s without end", w->seed,
		  msd_module_state_name(state));
	cr_assert(state != MSD_STATE_READY || n_coming == w->life.n_workers,
		  "seed %u: a worker is never started again", w->seed);
	cr_assert(!is_settled(state) || w->n_waiters == 0,
		  "seed %u: %s, and somebody waits for it", w->seed,
		  msd_module_state_name(state));
	cr_assert_eq(w->has_old, w->life.is_successor);
}

static void lose(struct world *w, uint32_t i, enum msd_loss loss)
{
	w->at[i].has_process = false;
	w->at[i].timer = TIMER_NONE;
	take(w, MSD_LIFE_LOST, i, loss);
}

static void ring(struct world *w, uint32_t i)
{
	const enum timer timer = w->at[i].timer;

	w->at[i].timer = TIMER_NONE;
	w->now_ms += draw(w, 20000);
	if (timer == TIMER_OVERDUE) {
		take(w, MSD_LIFE_OVERDUE, i, 0);
	} else if (timer == TIMER_REST) {
		take(w, MSD_LIFE_RESTED, i, 0);
	} else if (timer == TIMER_NOT_STARTED) {
		lose(w, i, MSD_LOSS_NOT_STARTED);
	}
}

/* How a process ended, most often by itself. */
static enum msd_loss random_loss(struct world *w)
{
	const uint32_t what = draw(w, 8);

	return what == 0   ? MSD_LOSS_DEVICE
	       : what <= 2 ? MSD_LOSS_OVERRUN
			   : MSD_LOSS_DEATH;
}

/* Something happens to a worker, if anything can. What it said before it was killed may
 * still be read. */
static void happen_to(struct world *w, uint32_t i)
{
	const uint32_t what = draw(w, 8);

	if (!w->at[i].has_process || (what == 0 && w->at[i].timer != TIMER_NONE)) {
		ring(w, i);
	} else if (what <= 2 || (w->at[i].was_killed && what != 7)) {
		lose(w, i, random_loss(w));
	} else if (w->workers[i].phase == MSD_PHASE_OPENING && what == 3) {
		take(w, MSD_LIFE_BLAMED, 0, 0);
	} else if (w->workers[i].phase == MSD_PHASE_OPENING) {
		w->at[i].timer = TIMER_NONE;
		take(w, MSD_LIFE_OPENED, i, 0);
	}
}

/* A client comes: with a load, a call, or, seldom, an unload. */
static void come(struct world *w)
{
	if (w->life.state == MSD_STATE_LOADING || w->life.state == MSD_STATE_RESTARTING)
		w->n_waiters++;
	if (w->life.state == MSD_STATE_LOADING || w->life.state == MSD_STATE_RESTARTING)
		w->n_queued++;
	if (draw(w, 12) == 0) {
		w->n_unloaders++;
		take(w, MSD_LIFE_UNLOAD, 0, 0);
	}
}

static void go_on(struct world *w)
{
	const uint32_t what = draw(w, 10);

	w->now_ms += draw(w, 100);
	if (what == 0) {
		come(w);
	} else if (what == 1 && w->has_drain_timer) {
		w->has_drain_timer = false;
		take(w, MSD_LIFE_DRAIN_OVER, 0, 0);
	} else if (what == 2 && w->has_old && w->life.state == MSD_STATE_LOADING) {
		w->has_old = false;
		take(w, MSD_LIFE_NAMED, 0, 0);
	} else
		happen_to(w, draw(w, w->life.n_workers));
	expect_sound(w);
}

/* The end that every life must have: unloaded, out of time, its processes reaped. */
static void finish(struct world *w)
{
	if (w->is_free)
		return;
	w->n_unloaders++;
	take(w, MSD_LIFE_UNLOAD, 0, 0);
	if (!w->is_free)
		take(w, MSD_LIFE_DRAIN_OVER, 0, 0);
	for (uint32_t i = 0; i < w->life.n_workers && !w->is_free; i++) {
		if (w->at[i].has_process) {
			cr_assert(w->at[i].was_killed, "seed %u: spared", w->seed);
			lose(w, i, MSD_LOSS_DEATH);
		}
	}
	cr_assert(w->is_free, "seed %u: it does not end", w->seed);
	expect_sound(w);
}

static void expect_sound_life(unsigned seed)
{
	struct world w = {.seed = seed, .random = seed * 2654435761u | 1, .now_ms = 1};

	w.life = (struct msd_life){.workers = w.workers,
				   .n_workers = 1 + draw(&w, MAX_WORKERS),
				   .load_limit_ms = 1000,
				   .drain_limit_ms = 1000,
				   .max_deaths = 1 + draw(&w, 10),
				   .is_successor = draw(&w, 3) == 0};
	w.has_old = w.life.is_successor;
	w.n_waiters = draw(&w, 2);
	take(&w, MSD_LIFE_LOAD, 0, 0);
	expect_sound(&w);
	for (unsigned i = 0; i < 200 && !w.is_free; i++)
		go_on(&w);
	finish(&w);
}

Test(life_random, every_life_keeps_its_promises_and_ends)
{
	const char *only = getenv("MSD_SEED");

	if (only != NULL) {
		expect_sound_life((unsigned)strtoul(only, NULL, 10));
		return;
	}
	for (unsigned seed = 1; seed <= 5000; seed++)
		expect_sound_life(seed);
}
