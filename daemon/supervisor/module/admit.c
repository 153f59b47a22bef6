#include "daemon/supervisor/module/admit.h"

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/admission.h"
#include "daemon/supervisor/module/counted.h"
#include "daemon/supervisor/module/direct.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/lateness.h"
#include "daemon/supervisor/module/life.h"
#include "daemon/supervisor/module/queue.h"
#include "daemon/supervisor/module/ready_wait.h"
#include "daemon/supervisor/module/refusal.h"
#include "daemon/supervisor/module/slumber.h"

/*
 * Happy path: a request is adopted, and submitted to the queue of a module that can
 * take it, which wakes one that is asleep. Failures: the module cannot, or the
 * request's peer is barred; a deadline passes, and the request says why; one that
 * overran ends the worker; a load that nobody waits for any more is given up.
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
				   "load %s: it was not ready by the deadline, and "
				   "was given up",
				   m->crew.name);
	} else if (r->method == MSD_M_MODULE_UNLOAD) {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "unload %s: what it runs was not done by the "
				   "deadline; it goes when that is",
				   m->crew.name);
	} else if (is_loading(m)) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "module %s is %s and was not ready in time",
				   m->crew.name, msd_module_state_name(m->life.state));
	} else if (r->at.lane != NULL || r->at.replica != NULL) {
		msd_lateness_explain(r, uv_now(m->crew.house->loop), d);
	} else {
		(void)msd_diag_set(d, MSD_DEADLINE,
				   "module %s: the deadline passed before there was "
				   "room for its tensors and all their bytes had come",
				   m->crew.name);
	}
}

/* What was late before its turn came is dropped by its worker, soon after that: until
 * then it is the first, and not to blame. */
static bool overruns(const struct msd_req *r)
{
	const struct msd_replica *rep = r->at.replica;

	return msd_replica_runs(rep, r) &&
	       msd_replica_ran_ms(rep, uv_now(rep->crew->house->loop)) >=
		       r->due.grace_ms;
}

static void cancel(struct msd_req *r)
{
	msd_replica_cancel(r);
}

/* Why @who, barred for @left_ms, gets no calls that may end a worker into the queue. */
static void explain_bar(const struct msd_module *m, struct msd_peer_id who,
			uint64_t left_ms, struct msd_diag *d)
{
	char name[MSD_PEER_TEXT_BYTES];

	(void)msd_diag_set(
		d, MSD_BUSY,
		"module %s: %u calls of %s overran their deadlines within a minute, "
		"or were left, and each cost the module its worker; calls that may do "
		"so are taken again in %llu s, those without a deadline now",
		m->crew.name, MSD_OVERRUNS_MOST, msd_peer_id_text(who, name),
		(unsigned long long)(left_ms + 999) / 1000);
}

/* What it has queued would kill the next workers, too. */
static void bar(struct msd_module *m, struct msd_peer_id who)
{
	char name[MSD_PEER_TEXT_BYTES];
	struct msd_diag d = {0};

	msd_log(MSD_LOG_WARN, "barred",
		"name=%s peer=\"%s\" why=\"its calls cost workers\"", m->crew.name,
		msd_peer_id_text(who, name));
	msd_direct_end_crew(&m->crew); /* it may have some with other workers */
	explain_bar(m, who, MSD_OVERRUNS_BAR_MS, &d);
	msd_refusal_begin_of(&m->crew, who, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
}

void msd_module_overran(struct msd_replica *rep, struct msd_peer_id who)
{
	struct msd_module *m = msd_module_of(rep->crew);

	msd_replica_kill_overrun(rep);
	if (msd_overruns_note(&m->overruns, who, uv_now(m->crew.house->loop)))
		bar(m, who);
}

static void kill_worker(struct msd_req *r)
{
	msd_module_overran(r->at.replica, r->client.peer);
}

static void on_unawaited(struct msd_req *r)
{
	msd_module_check_idle(r->module);
}

static void on_answered(struct msd_req *r)
{
	if (r->at.holds) {
		msd_lane_release(r->client.who, r->at.replica->process,
				 msd_lane_held(r), r->at.makes_bytes);
	}
	r->at.holds = false;
	if (r->method == MSD_M_CALL)
		msd_counted_end(r, &r->module->crew);
}

/* It was to load the module by a deadline, which has passed first. */
static bool was_late_load(const struct msd_req *r)
{
	return r->method == MSD_M_MODULE_LOAD &&
	       (r->module->life.state == MSD_STATE_LOADING ||
		r->module->life.state == MSD_STATE_TRIAL) &&
	       r->due.all != NULL &&
	       r->due.node.at_ms <= uv_now(r->module->crew.house->loop);
}

/* With a load that was given up goes the module. */
static void on_freed(struct msd_req *r)
{
	if (r->at.lane != NULL)
		msd_lane_left(r);
	msd_process_unref(r->at.needs);
	if (was_late_load(r)) {
		msd_module_give_up(r->module);
	} else {
		msd_module_check_idle(r->module);
	}
}

static const struct msd_req_ops req_ops = {
	.explain_due = explain_due,
	.overruns = overruns,
	.cancel = cancel,
	.kill = kill_worker,
	.has_waited = msd_ready_wait_is_over,
	.on_unawaited = on_unawaited,
	.on_answered = on_answered,
	.on_freed = on_freed,
};

void msd_module_adopt(struct msd_module *m, struct msd_req *r)
{
	r->module = m;
	r->ops = &req_ops;
	r->due.grace_ms = m->crew.house->limits->kill_grace_ms;
}

/* True: @r was refused, because its peer is barred from ending workers. */
static bool refuse_barred(struct msd_module *m, struct msd_req *r)
{
	const uint64_t left_ms = msd_overruns_left_ms(&m->overruns, r->client.peer,
						      uv_now(m->crew.house->loop));
	struct msd_diag d = {0};

	if (left_ms == 0)
		return false;
	explain_bar(m, r->client.peer, left_ms, &d);
	msd_req_refuse(r, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
	return true;
}

/* True: @r, which may end its worker, was refused for that. */
static bool refuse_deadly(struct msd_module *m, struct msd_req *r)
{
	return refuse_barred(m, r) ||
	       (r->due.is_clients && r->method == MSD_M_CALL && m->crew.is_serving &&
		msd_admission_refuse(&m->crew, r));
}

void msd_module_submit(struct msd_module *m, struct msd_req *r)
{
	const enum msd_module_state state = m->life.state;

	if (state == MSD_STATE_FAILED || state == MSD_STATE_QUARANTINED) {
		/* Its own code, if it has one, is about the file, not about this call.
		 */
		msd_req_refuse(r,
			       state == MSD_STATE_FAILED ? MSD_MODULE_FAILED
							 : m->error_code,
			       m->error != NULL ? m->error : "the module failed");
	} else if (state == MSD_STATE_DRAINING && !m->crew.is_serving) {
		/* What was admitted before the unload, its payload on the way, is still
		 * run, if somebody is there to run it. */
		msd_req_refuse(r, MSD_DRAINING, msd_module_why_draining(m));
	} else if (!msd_req_may_kill(r) || !refuse_deadly(m, r)) {
		msd_queue_put(&m->crew, r);
		if (state == MSD_STATE_ASLEEP)
			msd_slumber_end(m);
	}
}
