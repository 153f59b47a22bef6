#include "daemon/supervisor/edge/stored.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/upload.h"
#include "daemon/supervisor/keep/look.h"

struct finding {
	struct msd_look look;
	struct msd_edge *edge;
	struct msd_list requests; /* msd_req.link: the one, until its client goes */
};

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)r;
	(void)msd_diag_set(d, MSD_DEADLINE,
			   "the deadline passed before the store had been read");
}

static void on_answered(struct msd_req *r)
{
	(void)r; /* who looks finds its list empty */
}

/* No worker has it, so the others are never asked. */
static const struct msd_req_ops req_ops = {.explain_due = explain_due,
					   .on_answered = on_answered,
					   .on_freed = on_answered};

static msd_err answer_found(const struct msd_look *look, struct msd_req *r,
			    struct msd_diag *d)
{
	const struct msd_source source = {.fd = look->fd,
					  .bytes = look->bytes,
					  .part_bytes[MSD_PART_MODEL] = look->bytes,
					  .sha256 = look->digest};
	struct msd_upload *u;
	struct msd_buf b = {0};
	const msd_err err = msd_upload_add_found(msd_session_of(r), &source, &u, d);

	if (err != MSD_OK)
		return err;
	msd_pack_handle(&b, MSD_EXT_UPLOAD, u->handle);
	msd_req_answer(r, &b);
	msd_req_release(r);
	msd_buf_finish(&b);
	return MSD_OK;
}

static void on_looked(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct finding *f = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_look, job), struct finding, look);
	struct msd_list *it = msd_list_first(&f->requests);
	struct msd_req *r =
		it != NULL ? MSD_CONTAINER_OF(it, struct msd_req, link) : NULL;
	const bool is_found = job->err == MSD_OK;

	(void)keeper;
	f->edge->n_findings--;
	if (r != NULL && is_found)
		job->err = answer_found(&f->look, r, &job->d);
	if (r != NULL && job->err != MSD_OK)
		msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	if (is_found && (r == NULL || job->err != MSD_OK))
		(void)close(f->look.fd);
	msd_diag_finish(&job->d);
	free(f);
}

msd_err msd_stored_find(struct msd_method_call *c, struct msd_span sha256,
			struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct finding *f;
	struct msd_req *r;

	if (!e->keeper->is_open) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "module.upload find: this daemon has no store");
	}
	if (e->n_findings >= e->limits->max_uploads) { /* who left has some, too */
		return msd_diag_set(d, MSD_BUSY,
				    "module.upload find: the store is being read for "
				    "%u others",
				    e->n_findings);
	}
	f = calloc(1, sizeof(*f));
	r = f != NULL ? msd_req_new(&c->session->client, c->in->body.id, c->method)
		      : NULL;
	if (r == NULL) {
		free(f);
		return msd_diag_no_memory(d);
	}
	f->edge = e;
	e->n_findings++;
	msd_list_init(&f->requests);
	memcpy(f->look.digest.b, sha256.p, MSD_DIGEST_BYTES);
	f->look.max_bytes = e->limits->max_upload;
	r->ops = &req_ops;
	msd_list_append(&f->requests, &r->link);
	c->later = true;
	if (c->options.has_deadline) {
		msd_req_set_due_from(r, e->deadlines, c->in->begun_ms,
				     c->options.deadline_ms);
	}
	msd_look(e->keeper, &f->look, on_looked);
	return MSD_OK;
}
