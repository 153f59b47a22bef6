#include "tests/daemon/module_world.h"

#include <criterion/criterion.h>

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

void tell_req(struct world *w, struct request *r, enum msd_req_event e)
{
	cr_assert(msd_req_event_is_legal(r->state, e), "seed %u: event %d in state %d",
		  w->base.seed, (int)e, (int)r->state);
	const struct msd_req_move move = msd_req_step(r->state, e);

	r->state = (enum msd_req_state)move.to;
	r->is_orphan = r->is_orphan || e == MSD_REQ_ORPHANED;
	if ((move.actions & MSD_REQ_ANSWER) != 0 && !r->is_orphan)
		r->answers++;
	cr_assert_leq(r->answers, 1, "seed %u: answered twice", w->base.seed);
	if ((move.actions & MSD_REQ_RELEASE) != 0) {
		cr_assert(r->answers == 1 || r->is_orphan, "seed %u: never answered",
			  w->base.seed);
		w->budget -= r->bytes;
		w->n_over++;
		r->is_used = false;
	}
	check_idle(w);
}

bool is_serving(const struct world *w)
{
	return w->base.life.n_open > 0 && w->base.life.state != MSD_STATE_LOADING;
}

static void look(struct world *w)
{
	for (uint32_t i = 0; i < w->base.life.n_workers; i++) {
		const struct request *first = first_sent(w, i);
		w->choices[i] = (struct msd_worker_selection_worker){
			.is_open = w->base.workers[i].phase == MSD_PHASE_OPEN,
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
		const uint32_t i = msd_choose_any(w->choices, w->base.life.n_workers);
		if (i == MSD_NOBODY)
			return;
		cr_assert(w->base.at[i].has_process &&
				  w->base.workers[i].phase == MSD_PHASE_OPEN,
			  "seed %u: sent to a worker that is not there", w->base.seed);
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
	for (uint32_t i = 0; count_queued(w) == 0 && i < w->base.life.n_workers; i++) {
		if (!is_awaited(w, i))
			end_idle(&w->base, i);
	}
}

static void perform(struct life_world *life, const struct msd_life_action *a)
{
	struct world *w = (struct world *)life;

	switch ((int)a->type) {
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
	default:
		break; /* of no consequence to what is checked here */
	}
}

static void on_gone(struct life_world *life, uint32_t worker)
{
	struct world *w = (struct world *)life;
	struct request *r;

	for (unsigned k = 0; k < MAX_REQUESTS && (r = first_sent(w, worker)) != NULL;
	     k++)
		tell_req(w, r, MSD_REQ_LOST);
}

static const struct life_world_ops ops = {.perform = perform, .on_gone = on_gone};

void world_init(struct world *w, unsigned seed)
{
	*w = (struct world){0};
	life_world_init(&w->base, seed, &ops);
}
