#include "daemon/supervisor/module/queue/admit.h"

#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/life/module_source.h"
#include "daemon/supervisor/module/queue/admission.h"
#include "daemon/supervisor/module/queue/bans.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/queue/deadline_cause.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/module/workers/busy.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/run_watch.h"

/*
 * Happy path: the module adopts a request and submits it to its queue; a sleeping
 * module wakes. Failures: the module cannot serve, or the request's peer is banned. A
 * deadline passes, and the answer says why. A call that overran terminates its
 * worker. A load without waiters is given up.
 */

static bool is_loading(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_TRIAL ||
	       m->life.state == MSD_STATE_RESTARTING ||
	       m->life.state == MSD_STATE_ASLEEP;
}

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	const struct msd_module *m = r->module;

	if (r->method == MSD_M_MODULE_LOAD) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "load %s: the module was not ready by the deadline, "
				   "so the load was cancelled",
				   m->group.name);
	} else if (r->method == MSD_M_MODULE_UNLOAD) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "unload %s: its calls did not finish by the "
				   "deadline; it is unloaded when they have",
				   m->group.name);
	} else if (is_loading(m)) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "module %s is %s and was not ready in time",
				   m->group.name, msd_module_state_name(m->life.state));
	} else if (r->at.client_queue != NULL || r->at.replica != NULL) {
		msd_deadline_cause_explain(r, uv_now(m->group.registry->loop), d);
	} else {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: the deadline passed before its tensors "
				   "were received",
				   m->group.name);
	}
}

static void cancel(struct msd_req *r)
{
	struct msd_replica *rep = r->at.replica;

	if (r->at.left_ms == 0)
		r->at.left_ms = uv_now(rep->group->registry->loop);
	msd_replica_cancel(r);
	if (rep->is_open)
		msd_run_watch_in(rep, r->module->group.registry->limits->kill_grace_ms);
}

static const char *const reasons[MSD_RUN_END_COUNT] = {
	[MSD_RUN_OVERDUE] = "it overran its deadline",
	[MSD_RUN_IN_WAY] = "its client is gone, and other calls wait behind it",
	[MSD_RUN_TOO_LONG] = "it ran longer than max-run",
};

void msd_module_overran(struct msd_replica *rep, const struct msd_blame *blame,
			enum msd_run_end why, uint64_t ran_ms)
{
	struct msd_module *m = msd_module_of(rep->group);
	char who[MSD_PEER_TEXT_BYTES];

	msd_log(MSD_LOG_WARN, "call_killed",
		"name=%s worker=%u peer=\"%s\" ran_ms=%llu why=\"%s\"", m->group.name,
		rep->number, msd_peer_id_text(blame->who, who),
		(unsigned long long)ran_ms, reasons[why]);
	msd_busy_note_end(&m->group, ran_ms);
	msd_replica_end_for(rep, why, ran_ms);
	(void)msd_bans_note(m, blame, why, ran_ms);
}

static void on_unawaited(struct msd_req *r)
{
	msd_module_check_idle(r->module);
}

static void on_answered(struct msd_req *r)
{
	if (r->at.holds) {
		msd_client_queue_release(r->client.who, r->at.replica->process,
					 msd_client_queue_held(r), r->at.makes_bytes);
	}
	r->at.holds = false;
	if (r->method == MSD_M_CALL)
		msd_call_accounting_end(r, &r->module->group);
}

/* True if @r is a load of the module and its deadline passed before the load was
 * done. */
static bool was_late_load(const struct msd_req *r)
{
	return r->method == MSD_M_MODULE_LOAD &&
	       (r->module->life.state == MSD_STATE_LOADING ||
		r->module->life.state == MSD_STATE_TRIAL) &&
	       r->due.all != NULL &&
	       r->due.node.at_ms <= uv_now(r->module->group.registry->loop);
}

/* Freeing a load that was given up also frees the module. */
static void on_freed(struct msd_req *r)
{
	if (r->at.client_queue != NULL)
		msd_client_queue_left(r);
	msd_process_unref(r->at.needs);
	if (was_late_load(r)) {
		msd_module_give_up(r->module);
	} else {
		msd_module_check_idle(r->module);
	}
}

static const struct msd_req_ops req_ops = {
	.explain_due = explain_due,
	.cancel = cancel,
	.has_waited = msd_ready_timeout_is_over,
	.on_unawaited = on_unawaited,
	.on_answered = on_answered,
	.on_freed = on_freed,
};

void msd_module_adopt(struct msd_module *m, struct msd_req *r)
{
	r->module = m;
	r->ops = &req_ops;
}

/* True: @r, a call with a deadline, was refused as too late. */
static bool refuse_late(struct msd_module *m, struct msd_req *r)
{
	return r->due.is_clients && r->method == MSD_M_CALL && m->group.is_serving &&
	       msd_admission_refuse(&m->group, r);
}

/* The module that has taken the name of @old, if it takes calls. */
static struct msd_module *heir_of(const struct msd_module *old)
{
	MSD_LIST_EACH (it, &old->group.registry->modules) {
		struct msd_module *m = MSD_CONTAINER_OF(it, struct msd_module, link);
		if (strcmp(m->group.name, old->group.name) == 0) {
			return m != old && (m->group.is_serving || is_loading(m))
				       ? m
				       : NULL;
		}
	}
	return NULL;
}

/* Objects are in the worker that made them. */
static bool is_portable(const struct msd_req *r)
{
	return r->method == MSD_M_CALL && r->client.who != NULL &&
	       r->at.needs == NULL && r->job.instance.generation == 0;
}

bool msd_module_pass_on(struct msd_module *old, struct msd_req *r)
{
	struct msd_module *m = old->is_replaced ? heir_of(old) : NULL;
	struct msd_diag d = {0};

	if (m == NULL || !is_portable(r))
		return false;
	const msd_err err =
		msd_placement_move(&r->placement, &m->group.in, &r->job.params, &d);
	msd_diag_finish(&d);
	if (err != MSD_OK)
		return false;
	if (r->at.client_queue != NULL) {
		msd_list_remove(&r->link);
		msd_client_queue_left(r);
	}
	r->module = m;
	msd_module_submit(m, r);
	msd_module_check_idle(old);
	return true;
}

void msd_module_submit(struct msd_module *m, struct msd_req *r)
{
	const enum msd_module_state state = m->life.state;

	if (state == MSD_STATE_FAILED || state == MSD_STATE_QUARANTINED) {
		/* The module's own error code, if set, is about the file, not about
		 * this call. */
		msd_req_refuse(r,
			       state == MSD_STATE_FAILED ? MSD_MODULE_FAILED
							 : m->error_code,
			       m->error != NULL ? m->error : "the module failed");
	} else if (state == MSD_STATE_DRAINING && !m->group.is_serving) {
		/* A call that was admitted before the unload, with its payload still
		 * arriving, runs if a worker is left. */
		if (!msd_module_pass_on(m, r))
			msd_req_refuse(r, MSD_DRAINING, msd_module_why_draining(m));
	} else if (!msd_bans_refuse(m, r) && !refuse_late(m, r)) {
		msd_queue_put(&m->group, r);
		if (state == MSD_STATE_ASLEEP)
			msd_module_called(m);
	}
}
