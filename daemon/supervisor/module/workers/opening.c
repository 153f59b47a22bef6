#include "daemon/supervisor/module/workers/opening.h"

#include "daemon/log.h"
#include "daemon/supervisor/module/workers/opening_params.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply.h"
#include "proto/method.h"
#include "proto/value.h"

/*
 * Happy path: the worker has opened the artifact and describes it. Failures: it
 * refuses the artifact, and the load fails; the process gets time to exit. Its
 * description is invalid, and it is killed.
 */

void msd_opening_write(struct msd_out *o, const struct msd_req *r)
{
	const struct msd_replica *rep = r->at.replica;

	msd_body_begin_request(&o->body, r->at.wid, msd_method_row(r->method)->name,
			       false);
	if (rep->is_taken) {
		msd_pack_array(&o->body, 0);
	} else {
		msd_opening_write_params(&o->body, rep->group, msd_replica_index(rep));
	}
}

/* Report no cause for a kept worker: a fresh worker starts and reports its own. */
static void refuse_resumed(struct msd_replica *rep, struct msd_diag *d)
{
	msd_replica_disbelieve(rep, "it was kept, and did not resume", d);
	msd_diag_finish(d);
}

static void blame(struct msd_worker_group *group, struct msd_diag *d)
{
	(void)msd_diag_wrap(d, d->code, "load %s", group->name);
	group->ops->on_blamed(group, d->code, msd_diag_text(d));
	msd_diag_finish(d);
}

/*
 * A load with batch needs a function whose calls can be joined. An edition of the
 * store serves without one: a daemon that did not check this has kept it.
 */
static msd_err check_batch(const struct msd_replica *rep, struct msd_diag *d)
{
	const struct msd_worker_group *group = rep->group;

	if (group->run.batch_rows == 0 || group->facts.can_join)
		return MSD_OK;
	if (!group->is_stored) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s: batch: no function has a first extent that "
				    "may vary; export the model with a symbolic batch "
				    "size",
				    group->file);
	}
	if (msd_replica_index(rep) == 0) {
		msd_log(MSD_LOG_WARN, "module_batch_off",
			"name=%s why=\"no function has a first extent that may vary\"",
			group->name);
	}
	return MSD_OK;
}

void msd_opening_done(struct msd_req *r, struct msd_in *in)
{
	struct msd_worker_group *group = r->at.replica->group;
	const bool is_taken = r->at.replica->is_taken;
	struct msd_diag d = {0};

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, &d);
		if (is_taken) {
			refuse_resumed(r->at.replica, &d);
			return;
		}
		blame(group, &d);
		msd_process_await_exit(r->at.replica->process,
				       "it rejected its artifact and did not exit");
		return;
	}
	if (msd_facts_set(&group->facts, &in->body, &d) != MSD_OK) {
		if (is_taken) {
			refuse_resumed(r->at.replica, &d);
			return;
		}
		blame(group, &d);
		msd_replica_disbelieve(r->at.replica,
				       "its description of the module was invalid",
				       NULL);
		return;
	}
	if (check_batch(r->at.replica, &d) != MSD_OK) {
		blame(group, &d);
		msd_process_kill(r->at.replica->process, "it cannot join calls");
		return;
	}
	group->in.is_pinned = group->facts.has_pins;
	msd_shared_weights_opened(&group->weights, r->at.replica->process);
	group->ops->on_opened(r->at.replica);
}
