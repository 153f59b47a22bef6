#include "daemon/supervisor/module/admit.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/life.h"
#include "daemon/supervisor/module/queue.h"

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	const struct msd_module *m = r->module;

	if (m->life.state == MSD_STATE_LOADING ||
	    m->life.state == MSD_STATE_RESTARTING) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "module %s is %s and was not ready in time",
				   m->crew.name, msd_module_state_name(m->life.state));
	} else {
		(void)msd_diag_set(
			d, MSD_DEADLINE,
			"module %s: the deadline passed before the request was begun",
			m->crew.name);
	}
}

static bool is_running(const struct msd_req *r)
{
	const struct msd_replica *rep = r->at.replica;

	return rep->process != NULL && rep->sent.next == &r->link;
}

static void cancel(struct msd_req *r)
{
	msd_replica_cancel(r);
}

static void kill_worker(struct msd_req *r)
{
	msd_replica_kill(r->at.replica, "a call overran its deadline");
}

static void on_unawaited(struct msd_req *r)
{
	msd_module_check_idle(r->module);
}

static void on_answered(struct msd_req *r)
{
	if (r->at.holds)
		msd_lane_release(r->client.who, r->at.replica->process);
	r->at.holds = false;
}

static void on_freed(struct msd_req *r)
{
	if (r->at.lane != NULL)
		msd_lane_left(r);
	msd_process_unref(r->at.needs);
	msd_module_check_idle(r->module);
}

static const struct msd_req_ops req_ops = {
	.explain_due = explain_due,
	.is_running = is_running,
	.cancel = cancel,
	.kill = kill_worker,
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
		msd_req_refuse(r, MSD_DRAINING, "the module is being unloaded");
	} else {
		msd_queue_put(&m->crew, r);
	}
}
