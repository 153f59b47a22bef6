#include <criterion/criterion.h>

#include "tests/daemon/module_world.h"

/*
 * Random sequences of what clients, workers and clocks may do to a module; after each
 * step it is checked that no request is answered twice or kept for ever, that nothing
 * goes to a worker that is not there, and that what is counted is what there is. In the
 * end everything is given back. MSD_SEED=n runs one sequence alone.
 */

static void come(struct world *w)
{
	const enum msd_module_state state = w->base.life.state;

	for (unsigned i = 0; i < MAX_REQUESTS; i++) {
		struct request *r = &w->requests[i];
		if (r->is_used)
			continue;
		*r = (struct request){.is_used = true,
				      .worker = NOBODY,
				      .bytes = 1 + draw(&w->base, 100)};
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
	const uint32_t what = draw(&w->base, 4);

	if (!r->is_used) {
		come(w);
	} else if (what == 0 && r->answers == 0 && !r->is_orphan) {
		tell_req(w, r, MSD_REQ_CANCELLED);
	} else if (what == 1 && r->answers == 0 && !r->is_orphan) {
		tell_req(w, r, MSD_REQ_ORPHANED);
	} else if (what == 2) {
		if (is_running && r->state == MSD_REQ_ABANDONED) {
			kill_worker(&w->base, r->worker);
		} else {
			tell_req(w, r, MSD_REQ_DUE);
		}
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

static void happen_to_worker(struct world *w, uint32_t i)
{
	const uint32_t what = draw(&w->base, 12);

	if (!w->base.at[i].has_process) {
		ring(&w->base, i);
	} else if (what == 0 || (w->base.at[i].was_killed && what < 8)) {
		lose_worker(&w->base, i, (enum msd_loss)(MSD_LOSS_DEATH + what % 3));
	} else if (w->base.workers[i].phase == MSD_PHASE_OPENING) {
		w->base.at[i].timer = TIMER_NONE;
		take(&w->base, MSD_LIFE_OPENED, i, 0);
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
		cr_assert(!is_sent(r) || w->base.at[r->worker].has_process,
			  "seed %u: request %u is with a dead worker", w->base.seed, i);
		cr_assert(!r->is_used || r->state != MSD_REQ_QUEUED ||
				  w->base.life.state == MSD_STATE_LOADING ||
				  w->base.life.state == MSD_STATE_RESTARTING ||
				  msd_life_has_process(&w->base.life),
			  "seed %u: request %u waits for nobody in %s", w->base.seed, i,
			  msd_module_state_name(w->base.life.state));
	}
	cr_assert_eq(w->n_made, w->n_over + n, "seed %u: a request is lost",
		     w->base.seed);
	cr_assert_eq(w->budget, bytes, "seed %u: bytes are lost", w->base.seed);
}

static void expect_sound_module(unsigned seed)
{
	struct world w;
	struct life_world *l = &w.base;

	world_init(&w, seed);
	take(l, MSD_LIFE_LOAD, 0, 0);
	for (unsigned i = 0; i < 300 && !l->is_free; i++) {
		const uint32_t what = draw(l, 40);
		l->now_ms += draw(l, 50);
		if (what == 0 && draw(l, 4) == 0) {
			take(l, MSD_LIFE_UNLOAD, 0, 0);
		} else if (what < 20) {
			happen_to_request(&w, &w.requests[draw(l, MAX_REQUESTS)]);
		} else {
			happen_to_worker(&w, draw(l, l->life.n_workers));
		}
		expect_sound(&w);
	}
	expect_end_of_life(l);
	cr_assert_eq(w.budget, 0, "seed %u: bytes are kept", seed);
	cr_assert_eq(w.n_made, w.n_over, "seed %u: a request is kept", seed);
}

Test(module_random, every_request_is_answered_once_and_everything_given_back)
{
	each_seed(3000, expect_sound_module);
}
