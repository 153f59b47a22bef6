#include "daemon/supervisor/edge/uploads/upload_find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/access/digest_access.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/store_request.h"
#include "daemon/supervisor/edge/uploads/upload.h"
#include "daemon/supervisor/keep/lookup.h"

struct finding {
	struct msd_store_lookup look;
	struct msd_digest_access readable;
	struct msd_store_request errand;
};

static msd_err answer_found(const struct msd_store_lookup *look, struct msd_req *r,
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
	struct finding *f =
		MSD_CONTAINER_OF(MSD_CONTAINER_OF(job, struct msd_store_lookup, job),
				 struct finding, look);
	struct msd_req *r = msd_store_request_end(&f->errand);
	const bool is_found = job->err == MSD_OK;

	(void)keeper;
	msd_digest_access_end(&f->readable);
	if (r != NULL && is_found)
		job->err = answer_found(&f->look, r, &job->d);
	if (r != NULL && job->err != MSD_OK)
		msd_req_refuse(r, job->err, msd_diag_text(&job->d));
	if (is_found && (r == NULL || job->err != MSD_OK))
		(void)close(f->look.fd);
	msd_diag_finish(&job->d);
	free(f);
}

msd_err msd_upload_find_stored(struct msd_method_call *c, struct msd_span sha256,
			       struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;
	struct finding *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = msd_store_request_begin(&f->errand, c, &e->n_findings, d);
	if (err != MSD_OK) {
		free(f);
		return err;
	}
	memcpy(f->look.digest.b, sha256.p, MSD_DIGEST_BYTES);
	f->look.max_bytes = e->limits->max_upload;
	msd_digest_access_begin(&f->readable, c->session, &f->look);
	msd_store_lookup(e->keeper, &f->look, on_looked);
	return MSD_OK;
}
