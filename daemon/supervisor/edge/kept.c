#include "daemon/supervisor/edge/kept.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/keep/keep.h"
#include "daemon/supervisor/module/admit.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/module/life.h"

/*
 * Happy path: the request waits here while the module's record is removed; then it goes
 * on as any unload does. Failures: the disk refuses, and the module stays. Who asked
 * may leave meanwhile: the module is unloaded all the same.
 */

struct forgetting {
	struct msd_keep keep;
	struct msd_edge *edge;
	struct msd_list requests; /* msd_req.link: the one, until its client goes */
	bool has_deadline;
	uint64_t deadline_ms;
};

static void go_on(struct forgetting *f, struct msd_module *m, struct msd_req *r)
{
	if (r != NULL) {
		msd_module_adopt(m, r);
		if (f->has_deadline) {
			msd_req_set_due(r, f->edge->deadlines, f->deadline_ms);
		}
		msd_list_append(&m->unloaders, &r->link);
	}
	msd_module_unload(m);
}

static void on_forgotten(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct forgetting *f = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_keep, job), struct forgetting, keep);
	const struct msd_span name = {(const uint8_t *)f->keep.name,
				      strlen(f->keep.name)};
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
		job->err = msd_module_require(f->edge->house, name, &m, &job->d);
	if (job->err == MSD_OK) {
		go_on(f, m, r);
	} else if (r != NULL) {
		msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	}
	msd_diag_finish(&job->d);
	free(f);
}

msd_err msd_kept_unload(struct msd_method_call *c, struct msd_module *m,
			struct msd_diag *d)
{
	struct forgetting *f = calloc(1, sizeof(*f));
	struct msd_req *r = msd_req_new(&c->session->client, c->in->body.id, c->method);

	if (f == NULL || r == NULL) {
		free(f);
		if (r != NULL)
			msd_req_release(r);
		return msd_diag_no_memory(d);
	}
	f->edge = c->session->edge;
	f->has_deadline = c->options.has_deadline;
	f->deadline_ms = c->options.deadline_ms;
	msd_list_init(&f->requests);
	msd_list_append(&f->requests, &r->link);
	c->later = true;
	const struct msd_span name = {(const uint8_t *)m->crew.name,
				      strlen(m->crew.name)};
	msd_keep_label(&f->keep, name, name);
	msd_keep_forget(f->edge->keeper, &f->keep, on_forgotten);
	return MSD_OK;
}
