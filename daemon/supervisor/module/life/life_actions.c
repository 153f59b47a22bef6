#include "daemon/supervisor/module/life/life_actions.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/life/self_test.h"
#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "daemon/supervisor/module/stats/call_stats.h"

/* Perform the actions of life_step.h, one small function for each. The timer of a
 * worker limits how long it may take to open the artifact, or delays its next start. */

/* An action in progress. */
struct doing {
	struct msd_module *m;
	const struct msd_life_action *action;
	const char *how; /* cause of the loss, for error texts */
};

static void set_timer(struct msd_replica *rep, void (*on_due)(struct msd_deadline *),
		      uint64_t in_ms)
{
	rep->timer.on_due = on_due;
	msd_deadline_set(rep->group->registry->deadlines, &rep->timer, in_ms);
}

static void on_overdue(struct msd_deadline *node)
{
	msd_module_start_work_for(MSD_CONTAINER_OF(node, struct msd_replica, timer),
				  MSD_LIFE_OVERDUE);
}

static void on_rested(struct msd_deadline *node)
{
	msd_module_start_work_for(MSD_CONTAINER_OF(node, struct msd_replica, timer),
				  MSD_LIFE_RESTED);
}

static void on_not_started(struct msd_deadline *node)
{
	struct msd_replica *rep = MSD_CONTAINER_OF(node, struct msd_replica, timer);
	const struct msd_module *m = msd_module_of(rep->group);

	msd_replica_on_lost(rep, m->error != NULL ? m->error : "not started");
}

static struct msd_replica *replica_of(const struct doing *x)
{
	return &x->m->group.replicas[x->action->worker];
}

static void start(struct msd_replica *rep)
{
	struct msd_diag d = {0};

	if (msd_replica_start(rep, &d) == MSD_OK) {
		msd_module_start_work_for(rep, MSD_LIFE_STARTED);
		return;
	}
	msd_module_keep_error(msd_module_of(rep->group), d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
	set_timer(rep, on_not_started, 0); /* on a later iteration: never re-entrant */
}

static void start_one(const struct doing *x)
{
	start(replica_of(x));
}

static void say_restart(const struct doing *x, uint64_t in_ms)
{
	msd_log(MSD_LOG_INFO, "worker_restart", "name=%s in_ms=%llu worker=%u",
		x->m->group.name, (unsigned long long)in_ms, replica_of(x)->number);
}

static void start_again(const struct doing *x)
{
	say_restart(x, 0);
	start(replica_of(x));
}

static void start_others(const struct doing *x)
{
	for (uint32_t i = 1; i < x->m->group.n_replicas; i++)
		start(&x->m->group.replicas[i]);
}

static void set_overdue(const struct doing *x)
{
	set_timer(replica_of(x), on_overdue, x->action->least_ms);
}

/* The random delay spreads restarts: workers that died together restart at different
 * times. */
static void rest(const struct doing *x)
{
	const struct msd_life_action *a = x->action;
	const uint64_t in_ms =
		a->least_ms + (uint64_t)random() % (a->most_ms - a->least_ms + 1);

	say_restart(x, in_ms);
	set_timer(replica_of(x), on_rested, in_ms);
}

static void stop_timers(const struct doing *x)
{
	for (uint32_t i = 0; i < x->m->group.n_replicas; i++) {
		msd_deadline_clear(x->m->group.registry->deadlines,
				   &x->m->group.replicas[i].timer);
	}
}

static void on_drain_over(struct msd_deadline *node)
{
	msd_module_take_plain(MSD_CONTAINER_OF(node, struct msd_module, drain),
			      MSD_LIFE_DRAIN_OVER);
}

static void set_drain(const struct doing *x)
{
	x->m->drain.on_due = on_drain_over;
	msd_deadline_set(x->m->group.registry->deadlines, &x->m->drain,
			 x->action->least_ms);
}

static void kill_overdue(const struct doing *x)
{
	const uint64_t most = x->m->life.load_limit_ms;
	char reason[128];

	(void)snprintf(reason, sizeof(reason),
		       "it was not ready within %llu.%03llu seconds, the daemon's "
		       "--load-timeout; raise it for a load that takes longer",
		       (unsigned long long)most / 1000,
		       (unsigned long long)most % 1000);
	/* The ready message may still arrive, but too late. For the same reason,
	 * start no fresh worker after a kept one. */
	replica_of(x)->is_taken = false;
	msd_replica_disbelieve(replica_of(x), reason, NULL);
}

/* The daemon exits and leaves this idle worker to the next daemon. */
static bool leave(struct msd_replica *rep)
{
	return rep->group->registry->is_closing && rep->is_open &&
	       msd_list_is_empty(&rep->sent) && msd_process_leave(rep->process);
}

static void kill_idle(const struct doing *x)
{
	if (leave(replica_of(x)))
		return;
	msd_replica_kill(replica_of(x), x->m->life.state == MSD_STATE_DRAINING
						? "the module was unloaded"
						: "the module died too often");
}

static void kill_loading(const struct doing *x)
{
	msd_module_kill(x->m, "another worker of its module failed to load");
}

static void kill_drained(const struct doing *x)
{
	msd_module_kill(x->m, "the module was unloaded");
}

static void kill_uncalled(const struct doing *x)
{
	msd_module_kill(x->m, "the module was idle for its keep-alive time");
}

static void blame_death(const struct doing *x)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_MODULE_FAILED,
			   "load %s: the worker died before it was ready (%s)",
			   x->m->group.name, x->how);
	msd_module_set_error(x->m, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
}

static void blame_deaths(const struct doing *x)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_QUARANTINED,
			   "module %s died too often, last: %s; correct it and load it "
			   "again with replace",
			   x->m->group.name, x->how);
	msd_module_set_error(x->m, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
}

static void try_it(const struct doing *x)
{
	msd_self_test_begin(x->m);
}

static void forgive(const struct doing *x)
{
	msd_module_set_error(x->m, MSD_OK, NULL);
}

/*
 * The call statistics of the name continue. Until now, only its self-tests called @m.
 */
static void give_name(struct msd_module *old, struct msd_module *m)
{
	msd_call_stats_unref(m->group.call_stats);
	m->group.call_stats = msd_call_stats_ref(old->group.call_stats);
	m->predecessor = NULL;
	old->successor = NULL;
	msd_list_append(&m->group.registry->modules, &m->link);
	m->group.registry->generation++;
	msd_list_remove(&old->link);
}

/* The successor takes the name; the old module drains. */
static void take_over(const struct doing *x)
{
	struct msd_module *old = x->m->predecessor;

	x->m->canary.usual_permille = msd_canary_share(
		old->group.n_failed, msd_worker_group_answered(&old->group));
	give_name(old, x->m);
	old->is_replaced = true;
	if (old->life.n_open == 0)
		msd_refusal_begin_late(&old->group); /* its calls go to x->m */
	msd_module_unload(old);
	x->m->group.registry->on_gone(
		x->m->group.registry); /* the name may be reused */
}

static void name_successor(const struct doing *x)
{
	struct msd_module *next = x->m->successor;

	if (next == NULL)
		return;
	give_name(x->m, next);
	if (next->life.state == MSD_STATE_LOADING ||
	    next->life.state == MSD_STATE_TRIAL) /* the load may have been given up */
		msd_module_take_plain(next, MSD_LIFE_NAMED);
}

static void unload_successor(const struct doing *x)
{
	if (x->m->successor != NULL)
		msd_module_unload(x->m->successor);
}

static void report_failure(const struct doing *x)
{
	const struct msd_source *source = &x->m->group.source;
	const char *why = x->m->error != NULL ? x->m->error : "out of memory";

	msd_log(MSD_LOG_WARN, "edition_load_failed", "name=%s why=\"%s\"",
		x->m->group.name, why);
	if (x->m->predecessor != NULL) {
		msd_failed_edition_note(
			&x->m->predecessor->failed_edition,
			source->fd >= 0 ? msd_source_edition(source) : NULL, why);
		x->m->predecessor->failed_edition.section = x->m->section;
	}
}

static enum msd_load_event result_of(enum msd_module_state state)
{
	return state == MSD_STATE_READY      ? MSD_LOAD_GOOD
	       : state == MSD_STATE_DRAINING ? MSD_LOAD_OVER
					     : MSD_LOAD_BAD;
}

static void answer_waiters(const struct doing *x)
{
	struct msd_repository *r = x->m->group.registry->repository;
	const enum msd_load_event e = result_of(x->m->life.state);
	const unsigned actions = msd_module_take_load(x->m, e);

	if ((actions & MSD_LOAD_TELL) != 0)
		r->ops->tried(r, x->m, e == MSD_LOAD_GOOD);
	if ((actions & MSD_LOAD_ANSWER) != 0)
		msd_module_answer_waiters(x->m);
}

static void refuse_queued(const struct doing *x)
{
	const char *why = x->m->error != NULL ? x->m->error : "out of memory";

	if (x->m->life.state == MSD_STATE_DRAINING) {
		msd_refusal_begin(&x->m->group, MSD_DRAINING,
				  msd_module_why_draining(x->m));
	} else {
		msd_refusal_begin(&x->m->group,
				  x->m->life.state == MSD_STATE_FAILED
					  ? MSD_MODULE_FAILED
					  : MSD_QUARANTINED,
				  why);
	}
}

static void give_up_queued(const struct doing *x)
{
	msd_refusal_begin(&x->m->group, MSD_DRAINING,
			  x->m->is_replaced ? msd_module_why_draining(x->m)
					    : "the module was unloaded");
}

static void queued_wait(const struct doing *x)
{
	msd_ready_timeout_begin(&x->m->group);
}

static void queued_ready(const struct doing *x)
{
	msd_ready_timeout_end(&x->m->group);
}

static void pump(const struct doing *x)
{
	msd_queue_pump(&x->m->group);
}

static void check_idle(const struct doing *x)
{
	msd_module_check_idle(x->m);
}

static void forget(const struct doing *x)
{
	msd_module_end(x->m);
}

static void (*const performers[MSD_ACT_COUNT])(const struct doing *x) = {
	[MSD_ACT_START] = start_one,
	[MSD_ACT_START_AGAIN] = start_again,
	[MSD_ACT_START_OTHERS] = start_others,
	[MSD_ACT_SET_OVERDUE] = set_overdue,
	[MSD_ACT_REST] = rest,
	[MSD_ACT_STOP_TIMERS] = stop_timers,
	[MSD_ACT_SET_DRAIN] = set_drain,
	[MSD_ACT_KILL_OVERDUE] = kill_overdue,
	[MSD_ACT_KILL_IDLE] = kill_idle,
	[MSD_ACT_KILL_LOADING] = kill_loading,
	[MSD_ACT_KILL_DRAINED] = kill_drained,
	[MSD_ACT_KILL_UNCALLED] = kill_uncalled,
	[MSD_ACT_BLAME_DEATH] = blame_death,
	[MSD_ACT_BLAME_DEATHS] = blame_deaths,
	[MSD_ACT_TRY] = try_it,
	[MSD_ACT_FORGIVE] = forgive,
	[MSD_ACT_REPORT_FAILURE] = report_failure,
	[MSD_ACT_TAKE_OVER] = take_over,
	[MSD_ACT_UNLOAD_SUCCESSOR] = unload_successor,
	[MSD_ACT_NAME_SUCCESSOR] = name_successor,
	[MSD_ACT_ANSWER_WAITERS] = answer_waiters,
	[MSD_ACT_REFUSE_QUEUED] = refuse_queued,
	[MSD_ACT_GIVE_UP_QUEUED] = give_up_queued,
	[MSD_ACT_QUEUED_WAIT] = queued_wait,
	[MSD_ACT_QUEUED_READY] = queued_ready,
	[MSD_ACT_PUMP] = pump,
	[MSD_ACT_CHECK_IDLE] = check_idle,
	[MSD_ACT_FREE] = forget,
};

void msd_module_perform(struct msd_module *m, const struct msd_life_action *a,
			const char *how)
{
	performers[a->type](&(struct doing){m, a, how});
}
