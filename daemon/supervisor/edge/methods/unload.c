#include "daemon/supervisor/edge/methods/unload.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/life/life.h"
#include "daemon/supervisor/module/queue/admit.h"

/*
 * Happy path: the request waits here while the module's record is removed from the
 * store. Then it continues like any unload. Failures: on a disk error the module
 * stays. If the client leaves or the deadline passes, the module is still unloaded.
 */

struct forgetting {
	struct msd_keep keep;
	struct msd_edge *edge;
	struct msd_list
		requests; /* msd_req.link: the one request, until its client leaves */
};

static void go_on(struct msd_module *m, struct msd_req *r)
{
	if (r != NULL) {
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
	struct msd_list *it = msd_list_first(&f->requests);
	struct msd_req *r = NULL;
	struct msd_module *m;

	(void)keeper;
	if (it != NULL) {
		msd_list_remove(it);
		r = MSD_CONTAINER_OF(it, struct msd_req, link);
	}
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

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)r;
	(void)msd_diag_set(d, MSD_DEADLINE,
			   "the deadline passed before the store removed the module; "
			   "it is unloaded when that is done");
}

static void ignore(struct msd_req *r)
{
	(void)r; /* on_forgotten() finds the list empty */
}

/* No worker gets the request yet, so the other operations are never called. */
static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = ignore, .on_freed = ignore};

msd_err msd_unload_stored(struct msd_method_call *c, struct msd_module *m,
			  struct msd_diag *d)
{
	struct forgetting *f = calloc(1, sizeof(*f));
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);

	if (f == NULL || r == NULL) {
		free(f);
		if (r != NULL)
			msd_req_release(r);
		return msd_diag_no_memory(d);
	}
	f->edge = c->session->edge;
	r->ops = &req_ops;
	if (c->options.has_deadline) {
		msd_req_set_due_from(r, f->edge->deadlines, c->in->begun_ms,
				     c->options.deadline_ms);
	}
	msd_list_init(&f->requests);
	msd_list_append(&f->requests, &r->link);
	c->later = true;
	const struct msd_span name = msd_span_of(m->group.name);
	msd_keep_label(&f->keep, name, name);
	msd_keep_forget(f->edge->keeper, &f->keep, on_forgotten);
	return MSD_OK;
}
