#include "tests/daemon/life_world.h"

#include <criterion/criterion.h>
#include <stdlib.h>

void life_world_init(struct life_world *w, unsigned seed,
		     const struct life_world_ops *ops)
{
	*w = (struct life_world){.ops = ops,
				 .seed = seed,
				 .random = seed * 2654435761u | 1,
				 .now_ms = 1};
	w->life = (struct msd_life){.workers = w->workers,
				    .n_workers = 1 + draw(w, MAX_WORKERS),
				    .load_limit_ms = 1000,
				    .drain_limit_ms = 1000,
				    .max_deaths = 1 + draw(w, 10)};
}

uint32_t draw(struct life_world *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->random % below;
}

void kill_worker(struct life_world *w, uint32_t worker)
{
	if (w->at[worker].has_process)
		w->at[worker].was_killed = true;
}

void end_idle(struct life_world *w, uint32_t worker)
{
	if (w->at[worker].has_process && (w->life.state == MSD_STATE_DRAINING ||
					  w->life.state == MSD_STATE_QUARANTINED))
		take(w, MSD_LIFE_IDLE, worker, 0);
}

/* Now and then there is no process to be had. */
static void start(struct life_world *w, uint32_t i)
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

static void perform(struct life_world *w, const struct msd_life_action *a)
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
		for (uint32_t k = 0; k < w->life.n_workers; k++)
			w->at[k].timer = TIMER_NONE;
		break;
	case MSD_ACT_SET_DRAIN:
		w->has_drain_timer = true;
		break;
	case MSD_ACT_KILL_OVERDUE:
	case MSD_ACT_KILL_IDLE:
		cr_assert(w->at[i].has_process, "seed %u: killed nobody", w->seed);
		kill_worker(w, i);
		break;
	case MSD_ACT_KILL_LOADING:
	case MSD_ACT_KILL_DRAINED:
	case MSD_ACT_KILL_UNCALLED:
		for (uint32_t k = 0; k < w->life.n_workers; k++)
			kill_worker(w, k);
		break;
	case MSD_ACT_ANSWER_WAITERS:
		w->n_waiters = 0;
		break;
	case MSD_ACT_FREE:
		w->is_free = true;
		break;
	default:
		w->ops->perform(w, a);
		break;
	}
}

void take(struct life_world *w, enum msd_life_event_type type, uint32_t worker,
	  enum msd_loss loss)
{
	const struct msd_life_event e = {.type = type,
					 .worker = worker,
					 .loss = loss,
					 .has_loader = w->n_waiters > 0};
	const enum msd_module_state was = w->life.state;
	struct msd_life_actions as;

	cr_assert(msd_life_event_is_legal(&w->life, &e), "seed %u: event %d in %s",
		  w->seed, (int)type, msd_module_state_name(was));
	msd_life_step(&w->life, &e, w->now_ms, &as);
	cr_assert(was == w->life.state || msd_life_may_move(was, w->life.state),
		  "seed %u: %s to %s", w->seed, msd_module_state_name(was),
		  msd_module_state_name(w->life.state));
	for (uint32_t i = 0; i < as.n; i++)
		perform(w, &as.all[i]);
}

void lose_worker(struct life_world *w, uint32_t worker, enum msd_loss loss)
{
	w->at[worker].has_process = false;
	w->at[worker].timer = TIMER_NONE;
	w->ops->on_gone(w, worker);
	take(w, MSD_LIFE_LOST, worker, loss);
}

void ring(struct life_world *w, uint32_t worker)
{
	const enum timer timer = w->at[worker].timer;

	w->at[worker].timer = TIMER_NONE;
	w->now_ms += draw(w, 20000);
	if (timer == TIMER_OVERDUE) {
		take(w, MSD_LIFE_OVERDUE, worker, 0);
	} else if (timer == TIMER_REST) {
		take(w, MSD_LIFE_RESTED, worker, 0);
	} else if (timer == TIMER_NOT_STARTED) {
		lose_worker(w, worker, MSD_LOSS_NOT_STARTED);
	}
}

void expect_end_of_life(struct life_world *w)
{
	if (!w->is_free)
		take(w, MSD_LIFE_UNLOAD, 0, 0);
	if (!w->is_free)
		take(w, MSD_LIFE_DRAIN_OVER, 0, 0);
	for (uint32_t i = 0; i < w->life.n_workers && !w->is_free; i++) {
		if (w->at[i].has_process) {
			cr_assert(w->at[i].was_killed, "seed %u: spared", w->seed);
			lose_worker(w, i, MSD_LOSS_DEATH);
		}
	}
	cr_assert(w->is_free, "seed %u: it does not end", w->seed);
}

void each_seed(unsigned n, void (*expect)(unsigned seed))
{
	const char *only = getenv("MSD_SEED");

	if (only != NULL) {
		expect((unsigned)strtoul(only, NULL, 10));
		return;
	}
	for (unsigned seed = 1; seed <= n; seed++)
		expect(seed);
}
