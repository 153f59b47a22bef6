#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/daemon/module_world.h"

/*
 * Random sequences of what clients, workers and clocks may do to a module; after each
 * step it is checked that no request is answered twice or kept for ever, that nothing
 * goes to a worker that is not there, and that what is counted is what there is. In the
 * end everything is given back. MSD_SEED=n runs one sequence alone.
 */

static void lose(struct world *w, uint32_t i, enum msd_loss loss)
{
	struct request *r;

	w->at[i] = (struct worker){0};
	for (unsigned k = 0; k < MAX_REQUESTS && (r = first_sent(w, i)) != NULL; k++) {
		tell_req(w, r, MSD_REQ_LOST);
	}
	take(w, MSD_LIFE_LOST, i, loss);
}

static void come(struct world *w)
{
	const enum msd_module_state state = w->life.state;

	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		struct request *r = &w->requests[i];
		if (r->is_used)
			continue;
		*r = (struct request){
			.is_used = true, .worker = NOBODY, .bytes = 1 + draw(w, 100)};
		w->budget += r->bytes;
		w->n_made++;
		if (state == MSD_STATE_FAILED || state == MSD_STATE_QUARANTINED ||
		    (state == MSD_STATE_DRAINING && !is_serving(w))) {
			tell_req(w, r, MSD_REQ_SETTLED);
		} else {
			pump(w);
		}
		return;
	}
}

/* Something that a client or a clock may do to one request. */
static void happen_to_request(struct world *w, struct request *r)
{
	const bool is_running = is_sent(r) && first_sent(w, r->worker) == r;
	const uint32_t what = draw(w, 4);

	if (!r->is_used) {
		come(w);
	} else if (what == 0 && r->answers == 0 && !r->is_orphan) {
		tell_req(w, r, MSD_REQ_CANCELLED);
	} else if (what == 1 && r->answers == 0 && !r->is_orphan) {
		tell_req(w, r, MSD_REQ_ORPHANED);
	} else if (what == 2) {
		tell_req(w, r, is_running ? MSD_REQ_OVERRUNS : MSD_REQ_DUE);
	}
}

static void respond(struct world *w, uint32_t i)
{
	struct request *r = first_sent(w, i);

	if (r == NULL)
		return;
	tell_req(w, r, MSD_REQ_RESPONDED);
	pump(w);
	check_idle(w);
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

static void happen_to_worker(struct world *w, uint32_t i)
{
	const uint32_t what = draw(w, 12);

	if (!w->at[i].has_process) {
		ring(w, i);
	} else if (what == 0 || (w->at[i].was_killed && what < 8)) {
		lose(w, i, (enum msd_loss)(MSD_LOSS_DEATH + what % 3));
	} else if (w->lives[i].phase == MSD_PHASE_OPENING) {
		w->at[i].timer = TIMER_NONE;
		take(w, MSD_LIFE_OPENED, i, 0);
	} else
		respond(w, i);
}

/* What must be true between any two events. */
static void expect_sound(const struct world *w)
{
	uint64_t bytes = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		const struct request *r = &w->requests[i];
		n += r->is_used ? 1 : 0;
		bytes += r->is_used ? r->bytes : 0;
		cr_assert(!is_sent(r) || w->at[r->worker].has_process,
			  "seed %u: request %u is with a dead worker", w->seed, i);
		cr_assert(!r->is_used || r->state != MSD_REQ_QUEUED ||
				  w->life.state == MSD_STATE_LOADING ||
				  w->life.state == MSD_STATE_RESTARTING ||
				  msd_life_has_process(&w->life),
			  "seed %u: request %u waits for nobody in %s", w->seed, i,
			  msd_module_state_name(w->life.state));
	}
	cr_assert_eq(w->n_made, w->n_over + n, "seed %u: a request is lost", w->seed);
	cr_assert_eq(w->budget, bytes, "seed %u: bytes are lost", w->seed);
}

static void finish(struct world *w)
{
	if (!w->is_free)
		take(w, MSD_LIFE_UNLOAD, 0, 0);
	if (!w->is_free)
		take(w, MSD_LIFE_DRAIN_OVER, 0, 0);
	for (uint32_t i = 0; i < w->life.n_workers && !w->is_free; i++) {
		if (w->at[i].has_process)
			lose(w, i, MSD_LOSS_DEATH);
	}
	cr_assert(w->is_free, "seed %u: it does not end", w->seed);
	cr_assert_eq(w->budget, 0, "seed %u: bytes are kept", w->seed);
	cr_assert_eq(w->n_made, w->n_over, "seed %u: a request is kept", w->seed);
}

static void expect_sound_life(unsigned seed)
{
	struct world w = {.seed = seed, .random = seed * 2654435761u | 1, .now_ms = 1};

	w.life = (struct msd_life){.workers = w.lives,
				   .n_workers = 1 + draw(&w, MAX_WORKERS),
				   .load_limit_ms = 1000,
				   .drain_limit_ms = 1000,
				   .max_deaths = 1 + draw(&w, 8)};
	take(&w, MSD_LIFE_LOAD, 0, 0);
	for (unsigned i = 0; i < 300 && !w.is_free; i++) {
		const uint32_t what = draw(&w, 40);
		w.now_ms += draw(&w, 50);
		if (what == 0 && draw(&w, 4) == 0) {
			take(&w, MSD_LIFE_UNLOAD, 0, 0);
		} else if (what < 20) {
			happen_to_request(&w, &w.requests[draw(&w, MAX_REQUESTS)]);
		} else {
			happen_to_worker(&w, draw(&w, w.life.n_workers));
		}
		expect_sound(&w);
	}
	finish(&w);
}

Test(module_random, every_request_is_answered_once_and_everything_given_back)
{
	const char *only = getenv("MSD_SEED");

	if (only != NULL) {
		expect_sound_life((unsigned)strtoul(only, NULL, 10));
		return;
	}
	for (unsigned seed = 1; seed <= 3000; seed++) {
		expect_sound_life(seed);
	}
}
