#include "daemon/supervisor/module/life/life_step.h"

#include <stdlib.h>

/*
 * Happy path: LOAD starts the first worker. When it is OPENED, the other workers
 * start. The last OPENED makes the module READY, or begins its self-tests, and TRIED
 * makes it READY. UNLOAD drains it; IDLE kills each worker; the last LOST frees it.
 *
 * Failures:
 *   - A worker is lost before all were open, or in a self-test: the other workers are
 *     killed. If it refused the artifact, the client that loads it gets the cause, and
 *     the module is forgotten. Without such a client, or if the worker died, the module
 *     is FAILED and keeps its log.
 *   - A worker is lost later: only that worker is restarted, at once after its first
 *     death, then with delays. The other workers continue. With no worker left the
 *     module is RESTARTING. Too many deaths in total make it QUARANTINED, and its
 *     workers exit when they have answered. The same holds for as many deaths in a row
 *     before the artifact was open, however long each of them took.
 *   - The worker lost its device (its exit status says so): the same, but it is always
 *     restarted at once.
 *   - The module is not called for long: its workers exit and it is ASLEEP. The next
 *     call wakes it: it is RESTARTING with its first worker. When that is OPENED, the
 *     module is READY and the other workers start.
 *   - The worker was killed for a call that ran too long, or died of a call whose peer
 *     is to blame: it is restarted at once and not counted. The calls of one peer say
 *     nothing about the module (bans.h).
 */

#define HEALTHY_MS 60000u
#define DEATHS_WITHIN_MS 60000u
#define REST_FIRST_MS 50u
#define REST_MOST_MS 30000u

static void move(struct msd_life *life, enum msd_module_state to)
{
	if (!msd_life_may_move(life->state, to))
		abort(); /* a bug in the table or the step */
	life->state = to;
}

static struct msd_life_action *add(struct msd_life_actions *as,
				   enum msd_life_action_type type)
{
	struct msd_life_action *a = &as->all[as->n++];

	*a = (struct msd_life_action){.type = type};
	return a;
}

static void add_for(struct msd_life_actions *as, enum msd_life_action_type type,
		    uint32_t worker)
{
	add(as, type)->worker = worker;
}

bool msd_life_has_process(const struct msd_life *life)
{
	for (uint32_t i = 0; i < life->n_workers; i++) {
		if (life->workers[i].phase == MSD_PHASE_OPENING ||
		    life->workers[i].phase == MSD_PHASE_OPEN)
			return true;
	}
	return false;
}

static void start(struct msd_life *life, enum msd_life_action_type how, uint32_t worker,
		  struct msd_life_actions *as)
{
	life->workers[worker].phase = MSD_PHASE_STARTING;
	add_for(as, how, worker);
}

/* Start no more workers, and kill none for being slow to open. */
static void stop_timers(struct msd_life *life, struct msd_life_actions *as)
{
	for (uint32_t i = 0; i < life->n_workers; i++) {
		if (life->workers[i].phase == MSD_PHASE_RESTING ||
		    life->workers[i].phase == MSD_PHASE_STARTING)
			life->workers[i].phase = MSD_PHASE_OFF;
	}
	(void)add(as, MSD_ACT_STOP_TIMERS);
}

static void on_started(struct msd_life *life, uint32_t worker, uint64_t now_ms,
		       struct msd_life_actions *as)
{
	const uint64_t gone = now_ms - life->load_ms;
	uint64_t left = life->load_limit_ms;

	/* All workers of a load share its time limit; a restart has its own. */
	if (life->state == MSD_STATE_LOADING)
		left = gone < left ? left - gone : 0;
	life->workers[worker].phase = MSD_PHASE_OPENING;
	life->workers[worker].ready_ms = 0;
	add_for(as, MSD_ACT_SET_OVERDUE, worker);
	as->all[as->n - 1].least_ms = left;
}

static void become_ready(struct msd_life *life, struct msd_life_actions *as)
{
	move(life, MSD_STATE_READY);
	(void)add(as, MSD_ACT_FORGIVE);
	if (life->is_successor)
		(void)add(as, MSD_ACT_TAKE_OVER);
	life->is_successor = false;
	(void)add(as, MSD_ACT_ANSWER_WAITERS);
	(void)add(as, MSD_ACT_QUEUED_READY);
	(void)add(as, MSD_ACT_PUMP);
}

static void become_ready_or_try(struct msd_life *life, struct msd_life_actions *as)
{
	if (!life->has_trial) {
		become_ready(life, as);
		return;
	}
	life->has_trial = false;
	move(life, MSD_STATE_TRIAL);
	(void)add(as, MSD_ACT_TRY);
}

static void start_others(struct msd_life *life, struct msd_life_actions *as)
{
	for (uint32_t i = 1; i < life->n_workers; i++)
		life->workers[i].phase = MSD_PHASE_STARTING;
	(void)add(as, MSD_ACT_START_OTHERS);
}

/* True after WAKE, until the first worker is OPENED. */
static bool are_others_off(const struct msd_life *life)
{
	return life->n_workers > 1 && life->workers[1].phase == MSD_PHASE_OFF;
}

/* One worker opens the file before the other workers try. A file that cannot be
 * loaded, or that crashes the process, fails only once. */
static void go_on_loading(struct msd_life *life, struct msd_life_actions *as)
{
	if (life->is_blamed)
		return; /* one has failed, and the rest is being killed */
	if (life->n_open == life->n_workers) {
		become_ready_or_try(life, as);
		return;
	}
	if (life->n_open == 1)
		start_others(life, as);
}

static void on_opened(struct msd_life *life, uint32_t worker, uint64_t now_ms,
		      struct msd_life_actions *as)
{
	life->workers[worker].phase = MSD_PHASE_OPEN;
	life->workers[worker].ready_ms = now_ms;
	life->n_open++;
	life->n_unopened = 0;
	if (life->state == MSD_STATE_LOADING) {
		go_on_loading(life, as);
	} else if (life->state == MSD_STATE_RESTARTING) {
		become_ready(life, as);
		if (are_others_off(life))
			start_others(life, as);
	} else {
		if (life->state == MSD_STATE_READY)
			(void)add(as, MSD_ACT_FORGIVE);
		(void)add(as, MSD_ACT_PUMP);
		(void)add(as, MSD_ACT_CHECK_IDLE);
	}
}

static void fail_load(struct msd_life *life, bool has_loader,
		      struct msd_life_actions *as)
{
	stop_timers(life, as);
	move(life, MSD_STATE_FAILED);
	(void)add(as, MSD_ACT_REPORT_FAILURE);
	(void)add(as, MSD_ACT_ANSWER_WAITERS);
	(void)add(as, MSD_ACT_REFUSE_QUEUED);
	/* The client gets the whole cause of a refusal; for a death it can ask for
	 * the log. A failed replacement leaves no trace. */
	if ((!life->died_loading && has_loader) || life->is_successor) {
		(void)add(as, MSD_ACT_NAME_SUCCESSOR);
		(void)add(as, MSD_ACT_FREE);
	}
}

static void on_lost_loading(struct msd_life *life, bool has_loader,
			    struct msd_life_actions *as)
{
	if (!life->is_blamed) {
		life->died_loading = true;
		life->is_blamed = true;
		(void)add(as, MSD_ACT_BLAME_DEATH);
	}
	if (msd_life_has_process(life)) {
		(void)add(as, MSD_ACT_KILL_LOADING);
	} else {
		fail_load(life, has_loader, as);
	}
}

/*
 * True if there were too many deaths in the last minute, or as many in a row before
 * the artifact was open. Slow ones, each at its load timeout, never fall within a
 * minute.
 */
static bool note_death(struct msd_life *life, struct msd_life_worker *w,
		       uint64_t now_ms)
{
	uint64_t max = life->max_deaths;

	max = max < 1 ? 1 : max > MSD_KEPT_DEATHS ? MSD_KEPT_DEATHS : max;
	life->deaths_ms[life->n_deaths++ % MSD_KEPT_DEATHS] = now_ms;
	if (w->ready_ms != 0 && now_ms - w->ready_ms > HEALTHY_MS)
		w->n_rests = 0;
	if (w->ready_ms == 0 && ++life->n_unopened >= max)
		return true;
	if (life->n_deaths < max)
		return false;
	return now_ms - life->deaths_ms[(life->n_deaths - max) % MSD_KEPT_DEATHS] <
	       DEATHS_WITHIN_MS;
}

static void quarantine(struct msd_life *life, struct msd_life_actions *as)
{
	(void)add(as, MSD_ACT_BLAME_DEATHS);
	stop_timers(life, as);
	move(life, MSD_STATE_QUARANTINED);
	(void)add(as, MSD_ACT_ANSWER_WAITERS);
	(void)add(as, MSD_ACT_REFUSE_QUEUED);
	(void)add(as, MSD_ACT_CHECK_IDLE);
}

/* Delay the next restart; the first one has no delay. */
static void rest_or_start(struct msd_life *life, uint32_t worker,
			  struct msd_life_actions *as)
{
	struct msd_life_worker *w = &life->workers[worker];

	if (w->n_rests++ == 0) {
		start(life, MSD_ACT_START_AGAIN, worker, as);
		return;
	}
	const uint32_t shift = w->n_rests - 2 < 10 ? w->n_rests - 2 : 10;
	uint64_t most = (uint64_t)REST_FIRST_MS << shift;
	if (most > REST_MOST_MS)
		most = REST_MOST_MS;
	w->phase = MSD_PHASE_RESTING;
	add_for(as, MSD_ACT_REST, worker);
	as->all[as->n - 1].least_ms = most / 2;
	as->all[as->n - 1].most_ms = most;
}

static bool is_death(enum msd_loss loss)
{
	return loss == MSD_LOSS_DEATH || loss == MSD_LOSS_DEVICE;
}

/* A worker that could not be started is not the module's fault. A call that its peer
 * is to blame for is not either. */
static bool is_its_death(const struct msd_life_event *e)
{
	return is_death(e->loss) && !e->is_peers;
}

static bool is_started_at_once(const struct msd_life_event *e)
{
	return e->loss != MSD_LOSS_NOT_STARTED &&
	       (e->loss != MSD_LOSS_DEATH || e->is_peers);
}

/* After a device fault restart at once: only a fresh process clears the fault. */
static void restart(struct msd_life *life, const struct msd_life_event *e,
		    uint64_t now_ms, struct msd_life_actions *as)
{
	if (is_its_death(e) && note_death(life, &life->workers[e->worker], now_ms)) {
		quarantine(life, as);
		return;
	}
	if (life->n_open == 0) {
		if (life->state != MSD_STATE_RESTARTING)
			move(life, MSD_STATE_RESTARTING);
		(void)add(as, MSD_ACT_QUEUED_WAIT);
	}
	life->n_restarts++;
	if (is_started_at_once(e)) {
		start(life, MSD_ACT_START_AGAIN, e->worker, as);
	} else {
		rest_or_start(life, e->worker, as);
	}
	(void)add(as, MSD_ACT_PUMP); /* requests bound to it can go to other workers */
}

static void finish_unload(struct msd_life_actions *as)
{
	(void)add(as, MSD_ACT_REFUSE_QUEUED);
	(void)add(as, MSD_ACT_ANSWER_WAITERS);
	(void)add(as, MSD_ACT_FREE);
}

static void on_lost_draining(const struct msd_life *life, struct msd_life_actions *as)
{
	if (!msd_life_has_process(life)) {
		finish_unload(as);
		return;
	}
	(void)add(as, MSD_ACT_PUMP);
	(void)add(as, MSD_ACT_CHECK_IDLE);
}

/* While the old workers are being killed, it stays asleep until they have exited. The
 * first worker opens alone, as in a load: the others take what it has packed. */
static void wake(struct msd_life *life, struct msd_life_actions *as)
{
	life->is_called = msd_life_has_process(life);
	if (life->is_called)
		return;
	move(life, MSD_STATE_RESTARTING);
	(void)add(as, MSD_ACT_QUEUED_WAIT);
	start(life, MSD_ACT_START, 0, as);
}

static void fall_asleep(struct msd_life *life, struct msd_life_actions *as)
{
	move(life, MSD_STATE_ASLEEP);
	life->is_called = false;
	stop_timers(life, as);
	(void)add(as, MSD_ACT_KILL_UNCALLED);
}

static void on_lost(struct msd_life *life, const struct msd_life_event *e,
		    uint64_t now_ms, struct msd_life_actions *as)
{
	struct msd_life_worker *w = &life->workers[e->worker];

	life->n_open -= w->phase == MSD_PHASE_OPEN ? 1u : 0u;
	w->phase = MSD_PHASE_OFF;
	if (life->state == MSD_STATE_DRAINING) {
		on_lost_draining(life, as);
	} else if (life->state == MSD_STATE_LOADING || life->state == MSD_STATE_TRIAL) {
		on_lost_loading(life, e->has_loader, as);
	} else if (life->state == MSD_STATE_ASLEEP) {
		if (life->is_called)
			wake(life, as);
	} else if (life->state != MSD_STATE_QUARANTINED) {
		restart(life, e, now_ms, as);
	}
}

static void on_unload(struct msd_life *life, struct msd_life_actions *as)
{
	if (life->state == MSD_STATE_DRAINING)
		return;
	(void)add(as, MSD_ACT_UNLOAD_SUCCESSOR);
	move(life, MSD_STATE_DRAINING);
	stop_timers(life, as);
	if (!msd_life_has_process(life)) { /* FAILED, or between two workers */
		finish_unload(as);
		return;
	}
	add(as, MSD_ACT_SET_DRAIN)->least_ms = life->drain_limit_ms;
	(void)add(as, MSD_ACT_CHECK_IDLE);
}

void msd_life_step(struct msd_life *life, const struct msd_life_event *e,
		   uint64_t now_ms, struct msd_life_actions *ret)
{
	ret->n = 0;
	if (!msd_life_event_is_legal(life, e))
		abort(); /* a bug in the shell */
	switch (e->type) {
	case MSD_LIFE_LOAD:
		life->load_ms = now_ms;
		start(life, MSD_ACT_START, 0, ret);
		break;
	case MSD_LIFE_UNREADABLE:
		fail_load(life, e->has_loader, ret);
		break;
	case MSD_LIFE_STARTED:
		on_started(life, e->worker, now_ms, ret);
		break;
	case MSD_LIFE_BLAMED:
		life->is_blamed = true;
		break;
	case MSD_LIFE_OPENED:
		on_opened(life, e->worker, now_ms, ret);
		break;
	case MSD_LIFE_LOST:
		on_lost(life, e, now_ms, ret);
		break;
	case MSD_LIFE_OVERDUE:
		add_for(ret, MSD_ACT_KILL_OVERDUE, e->worker);
		break;
	case MSD_LIFE_RESTED:
		start(life, MSD_ACT_START, e->worker, ret);
		break;
	case MSD_LIFE_IDLE:
		add_for(ret, MSD_ACT_KILL_IDLE, e->worker);
		break;
	case MSD_LIFE_UNLOAD:
		on_unload(life, ret);
		break;
	case MSD_LIFE_DRAIN_OVER:
		(void)add(ret, MSD_ACT_GIVE_UP_QUEUED);
		(void)add(ret, MSD_ACT_KILL_DRAINED);
		break;
	case MSD_LIFE_TRIED:
		become_ready(life, ret);
		break;
	case MSD_LIFE_NAMED:
		life->is_successor = false; /* it loads like any module from here */
		break;
	case MSD_LIFE_SLEEP:
		fall_asleep(life, ret);
		break;
	case MSD_LIFE_WAKE:
		wake(life, ret);
		break;
	case MSD_LIFE_EVENT_COUNT:
	default:
		abort(); /* refused above */
	}
}
