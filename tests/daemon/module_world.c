#include "tests/daemon/module_world.h"

#include <criterion/criterion.h>

uint32_t draw(struct world *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 17;
	w->random ^= w->random << 5;
	return w->random % below;
}

bool is_sent(const struct request *r)
{
	return r->is_used &&
	       (r->state == MSD_REQ_SENT || r->state == MSD_REQ_ABANDONED);
}

struct request *first_sent(struct world *w, uint32_t worker)
{
	struct request *first = NULL;

	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		struct request *r = &w->requests[i];
		if (is_sent(r) && r->worker == worker &&
		    (first == NULL || r->order < first->order))
			first = r;
	}
	return first;
}

static void kill_worker(struct world *w, uint32_t i)
{
	if (w->at[i].has_process)
		w->at[i].was_killed = true;
}

void tell_req(struct world *w, struct request *r, enum msd_req_event e)
{
	cr_assert(msd_req_may_come(r->state, e), "seed %u: event %d in state %d",
		  w->seed, (int)e, (int)r->state);
	const struct msd_req_move move = msd_req_step(r->state, e);

	r->state = (enum msd_req_state)move.to;
	r->is_orphan = r->is_orphan || e == MSD_REQ_ORPHANED;
	if ((move.actions & MSD_REQ_ANSWER) != 0 && !r->is_orphan)
		r->answers++;
	cr_assert_leq(r->answers, 1, "seed %u: answered twice", w->seed);
	if ((move.actions & MSD_REQ_KILL) != 0)
		kill_worker(w, r->worker);
	if ((move.actions & MSD_REQ_RELEASE) != 0) {
		cr_assert(r->answers == 1 || r->is_orphan, "seed %u: never answered",
			  w->seed);
		w->budget -= r->bytes;
		w->n_over++;
		r->is_used = false;
	}
	check_idle(w);
}

bool is_serving(const struct world *w)
{
	return w->life.n_open > 0 && w->life.state != MSD_STATE_LOADING;
}

static void look(struct world *w)
{
	for (uint32_t i = 0; i < w->life.n_workers; i++) {
		const struct request *first = first_sent(w, i);
		w->choices[i] = (struct msd_choice_worker){
			.is_open = w->lives[i].phase == MSD_PHASE_OPEN,
			.is_stuck = first != NULL && first->state == MSD_REQ_ABANDONED};
		for (unsigned k = 0; k < MAX_REQUESTS; k++) {
			w->choices[i].n_sent +=
				is_sent(&w->requests[k]) && w->requests[k].worker == i;
		}
	}
}

void pump(struct world *w)
{
	for (unsigned k = 0; k < MAX_REQUESTS && is_serving(w); k++) {
		struct request *r = &w->requests[k];
		if (!r->is_used || r->state != MSD_REQ_QUEUED)
			continue;
		look(w);
		const uint32_t i = msd_choose_any(w->choices, w->life.n_workers);
		if (i == MSD_NOBODY)
			return;
		cr_assert(w->at[i].has_process && w->lives[i].phase == MSD_PHASE_OPEN,
			  "seed %u: sent to a worker that is not there", w->seed);
		r->worker = i;
		r->order = w->n_ordered++;
		tell_req(w, r, MSD_REQ_IS_SENT);
	}
}

static void refuse_queued(struct world *w)
{
	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		if (w->requests[i].is_used && w->requests[i].state == MSD_REQ_QUEUED)
			tell_req(w, &w->requests[i], MSD_REQ_SETTLED);
	}
}

static bool is_awaited(const struct world *w, uint32_t worker)
{
	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		const struct request *r = &w->requests[i];
		if (is_sent(r) && r->worker == worker && !r->is_orphan &&
		    r->answers == 0)
			return true;
	}
	return false;
}

static unsigned count_queued(const struct world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MAX_REQUESTS; i++)
		n += w->requests[i].is_used && w->requests[i].state == MSD_REQ_QUEUED;
	return n;
}

void check_idle(struct world *w)
{
	if ((w->life.state != MSD_STATE_DRAINING &&
	     w->life.state != MSD_STATE_QUARANTINED) ||
	    count_queued(w) > 0)
		return;
	for (uint32_t i = 0; i < w->life.n_workers; i++) {
		if (w->at[i].has_process && !is_awaited(w, i))
			take(w, MSD_LIFE_IDLE, i, 0);
	}
}

static void start(struct world *w, uint32_t i)
{
	cr_assert_not(w->at[i].has_process, "seed %u: two processes", w->seed);
	if (draw(w, 10) == 0) {
		take(w, MSD_LIFE_BLAMED, 0, 0);
		w->at[i].timer = TIMER_NOT_STARTED;
		return;
	}
	w->at[i] = (struct worker){.has_process = true};
	take(w, MSD_LIFE_STARTED, i, 0);
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
		kill_worker(w, i);
		break;
	case MSD_ACT_KILL_LOADING:
	case MSD_ACT_KILL_DRAINED:
		for (uint32_t k = 0; k < w->life.n_workers; k++)
			kill_worker(w, k);
		break;
	case MSD_ACT_REFUSE_QUEUED:
	case MSD_ACT_GIVE_UP_QUEUED:
		refuse_queued(w);
		break;
	case MSD_ACT_PUMP:
		pump(w);
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

void take(struct world *w, enum msd_life_event_type type, uint32_t worker,
	  enum msd_loss loss)
{
	const struct msd_life_event e = {.type = type, .worker = worker, .loss = loss};
	struct msd_life_actions as;

	cr_assert(msd_life_may_come(&w->life, &e), "seed %u: event %d in %s", w->seed,
		  (int)type, msd_module_state_name(w->life.state));
	msd_life_step(&w->life, &e, w->now_ms, &as);
	for (uint32_t i = 0; i < as.n; i++)
		perform(w, &as.all[i]);
}
