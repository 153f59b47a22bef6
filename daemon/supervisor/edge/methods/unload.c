#include "daemon/supervisor/edge/methods/unload.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/request/job_waiter.h"

/*
 * Happy path: the request waits here while the module's record is removed from the
 * store. Then it continues like any unload. Failures: on a disk error the module
 * stays. If the client leaves or the deadline passes, the module is still unloaded.
 */

struct forgetting {
	struct msd_keep keep;
	struct msd_edge *edge;
	struct msd_job_waiter waiter;
};

static void go_on(struct msd_module *m, struct msd_req *r)
{
	if (r != NULL) {
		msd_list_remove(&r->link);
		msd_module_adopt(m, r);
		msd_waiters_wait(&m->unloaders, r);
	}
	msd_module_unload(m);
}

static void on_forgotten(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct forgetting *f = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_keep, job), struct forgetting, keep);
	const struct msd_span name = msd_span_of(f->keep.name);
	struct msd_req *r = msd_job_waiter_request(&f->waiter);
	struct msd_module *m;

	(void)keeper;
	if (job->err != MSD_OK)
		(void)msd_diag_wrap(&job->d, job->err, "unload %s", f->keep.name);
	if (job->err == MSD_OK)
		job->err = msd_module_require(f->edge->registry, name, &m, &job->d);
	if (job->err == MSD_OK) {
		go_on(m, r);
	} else if (r != NULL) {
		msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	}
	msd_diag_finish(&job->d);
	free(f);
}

msd_err msd_unload_stored(struct msd_method_call *c, struct msd_module *m,
			  struct msd_diag *d)
{
	struct forgetting *f = calloc(1, sizeof(*f));
	struct msd_req *r = f != NULL ? msd_method_later(c) : NULL;

	if (r == NULL) {
		free(f);
		return msd_diag_no_memory(d);
	}
	f->edge = c->session->edge;
	msd_job_waiter_init(&f->waiter, r,
			    "the deadline passed before the store removed the module; "
			    "it is unloaded when that is done");
	const struct msd_span name = msd_span_of(m->group.name);
	msd_keep_label(&f->keep, name, name);
	msd_keep_forget(f->edge->keeper, &f->keep, on_forgotten);
	return MSD_OK;
}
