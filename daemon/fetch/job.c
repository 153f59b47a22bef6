#include "daemon/fetch/job.h"

#include <stdlib.h>
#include <string.h>

/*
 * Happy path: the URI's scheme says who brings the bytes, a thread or a download; when
 * all are there they are sealed, and their hash is compared with what was promised.
 * Failures: whoever finds one ends the job with it. A job that was cancelled is freed
 * when what works for it has let go.
 */

static void job_free(struct msd_job *job)
{
	msd_landing_close(&job->landing);
	msd_uri_finish(&job->uri);
	msd_buf_finish(&job->have);
	free(job->etag);
	msd_list_remove(&job->link);
	free(job->local.path);
	free(job);
}

static msd_err check_digest(struct msd_job *job, struct msd_diag *d)
{
	char is[MSD_DIGEST_TEXT], wanted[MSD_DIGEST_TEXT];

	if (!job->ask.has_digest || msd_digest_equal(&job->ask.digest, &job->digest))
		return MSD_OK;
	msd_digest_format(&job->digest, is);
	msd_digest_format(&job->ask.digest, wanted);
	return msd_diag_set(d, MSD_NOT_VERIFIED, "%s: its SHA-256 is %s, expected %s",
			    job->uri.shown, is, wanted);
}

static bool has_already(const struct msd_job *job)
{
	for (size_t at = 0; at < job->have.n; at += MSD_DIGEST_BYTES) {
		if (memcmp(job->have.p + at, job->digest.b, MSD_DIGEST_BYTES) == 0)
			return true;
	}
	return false;
}

static msd_err close_landing(struct msd_job *job, struct msd_diag *d)
{
	msd_err err;

	if (job->landing.bytes == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: it is empty",
				    job->uri.shown);
	}
	err = msd_landing_seal(&job->landing, &job->digest, d);
	if (err == MSD_OK)
		err = check_digest(job, d);
	job->is_had = has_already(job);
	return err;
}

static void end(struct msd_job *job, msd_err err, struct msd_diag *d)
{
	if (job->is_told)
		return;
	if (err == MSD_OK && !job->is_had)
		err = close_landing(job, d);
	job->is_told = true;
	job->ops->on_ended(job, err, d);
}

static struct msd_job *of_download(struct msd_download *dl)
{
	return MSD_CONTAINER_OF(dl, struct msd_job, download);
}

static void on_downloaded(struct msd_download *dl, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = of_download(dl);

	if (dl->is_known) {
		job->is_had = true;
		job->digest = job->ask.etag_digest;
	}
	end(job, err, d);
	msd_download_close(dl);
}

static void on_download_closed(struct msd_download *dl)
{
	job_free(of_download(dl));
}

static void on_read(struct msd_local *l, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = MSD_CONTAINER_OF(l, struct msd_job, local);

	end(job, err, d);
	job_free(job);
}

static struct msd_job *of_sink(struct msd_sink *s)
{
	return MSD_CONTAINER_OF(s, struct msd_job, sink);
}

static msd_err sink_expect(struct msd_sink *s, uint64_t bytes, struct msd_diag *d)
{
	return msd_landing_expect(&of_sink(s)->landing, bytes, d);
}

static msd_err sink_take(struct msd_sink *s, struct msd_span bytes, struct msd_diag *d)
{
	const msd_err err = msd_landing_take(&of_sink(s)->landing, bytes, d);

	s->bytes = of_sink(s)->landing.bytes;
	return err;
}

static msd_err sink_restart(struct msd_sink *s, struct msd_diag *d)
{
	s->bytes = 0;
	return msd_landing_restart(&of_sink(s)->landing, d);
}

static msd_err begin_local(struct msd_job *job, uv_loop_t *loop, struct msd_diag *d)
{
	job->local.path = strdup(job->uri.path);
	if (job->local.path == NULL)
		return msd_diag_no_memory(d);
	job->local.landing = &job->landing;
	job->local.on_done = on_read;
	msd_local_begin(&job->local, loop);
	return MSD_OK;
}

static msd_err begin_download(struct msd_job *job, struct msd_net *net,
			      struct msd_diag *d)
{
	job->download = (struct msd_download){.net = net,
					      .sink = &job->sink,
					      .how = job->ask.how,
					      .known_etag = job->etag,
					      .on_done = on_downloaded,
					      .on_closed = on_download_closed};
	return msd_download_begin(&job->download, job->ask.uri, d);
}

static struct msd_job *of_oci(struct msd_oci *o)
{
	return MSD_CONTAINER_OF(o, struct msd_job, oci);
}

/* The registry's digest is checked like one that was promised; both must be true. */
static msd_err on_digest(struct msd_oci *o, const struct msd_digest *digest,
			 struct msd_diag *d)
{
	struct msd_job *job = of_oci(o);

	job->digest = *digest;
	job->is_had = o->is_had = has_already(job);
	const msd_err err = check_digest(job, d);
	job->ask.digest = *digest;
	job->ask.has_digest = true;
	return err == MSD_OK && !o->is_had
		       ? msd_landing_expect(&job->landing, o->layer.bytes, d)
		       : err;
}

static void on_registry_done(struct msd_oci *o, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = of_oci(o);

	end(job, err, d);
	msd_oci_close(o);
	job_free(job);
}

static msd_err begin_oci(struct msd_job *job, struct msd_net *net, struct msd_diag *d)
{
	job->oci = (struct msd_oci){.net = net,
				    .how = job->ask.how,
				    .sink = &job->sink,
				    .on_digest = on_digest,
				    .on_done = on_registry_done};
	return msd_oci_begin(&job->oci, &job->uri, d);
}

static msd_err keep_ask(struct msd_job *job, const struct msd_job_ask *ask,
			struct msd_diag *d)
{
	job->ask = *ask;
	msd_buf_put(&job->have, ask->have.p, ask->have.n);
	job->etag = ask->etag != NULL ? strdup(ask->etag) : NULL;
	return job->have.bad || (ask->etag != NULL && job->etag == NULL)
		       ? msd_diag_no_memory(d)
		       : MSD_OK;
}

static msd_err begin(struct msd_job *job, struct msd_net *net, struct msd_diag *d)
{
	job->sink = (struct msd_sink){.is_checked = job->ask.has_digest,
				      .expect = sink_expect,
				      .take = sink_take,
				      .restart = sink_restart};
	switch (job->uri.scheme) {
	case MSD_SCHEME_FILE:
		return begin_local(job, net->loop, d);
	case MSD_SCHEME_OCI:
		return begin_oci(job, net, d);
	case MSD_SCHEME_HTTP:
	case MSD_SCHEME_HTTPS:
	default:
		return begin_download(job, net, d);
	}
}

msd_err msd_job_begin(struct msd_net *net, const struct msd_job_ask *ask,
		      const struct msd_job_ops *ops, void *user, uint64_t id,
		      struct msd_job **ret, struct msd_diag *d)
{
	struct msd_job *job = calloc(1, sizeof(*job));
	msd_err err;

	if (job == NULL)
		return msd_diag_no_memory(d);
	msd_list_init(&job->link);
	job->landing.fd = -1;
	job->ops = ops;
	job->user = user;
	job->id = id;
	err = keep_ask(job, ask, d);
	if (err == MSD_OK)
		err = msd_uri_read(ask->uri, &job->uri, d);
	if (err == MSD_OK)
		err = msd_landing_open(&job->landing, ask->max_bytes, d);
	if (err == MSD_OK)
		err = begin(job, net, d);
	if (err != MSD_OK) {
		job_free(job);
		return err;
	}
	*ret = job;
	return MSD_OK;
}

void msd_job_cancel(struct msd_job *job)
{
	if (job->is_told)
		return;
	job->is_told = true;
	msd_list_remove(&job->link);
	if (job->uri.scheme == MSD_SCHEME_FILE) {
		msd_local_cancel(&job->local);
	} else if (job->uri.scheme == MSD_SCHEME_OCI) {
		msd_oci_close(&job->oci);
		job_free(job);
	} else {
		msd_download_close(&job->download);
	}
}

uint64_t msd_job_progress(const struct msd_job *job, uint64_t *ret_total)
{
	if (job->uri.scheme == MSD_SCHEME_FILE) {
		*ret_total = job->local.total_bytes;
		return job->local.bytes;
	}
	*ret_total = job->uri.scheme == MSD_SCHEME_OCI ? job->oci.layer.bytes
						       : job->download.total_bytes;
	return job->sink.bytes;
}

const char *msd_job_etag(const struct msd_job *job)
{
	const char *etag = job->download.etag;

	return etag != NULL && etag[0] == '"' ? etag : NULL;
}

const char *msd_job_file(const struct msd_job *job)
{
	const char *path =
		job->oci.layer.title[0] != '\0' ? job->oci.layer.title : job->uri.path;
	const char *slash = strrchr(path, '/');

	if (slash != NULL)
		path = slash + 1;
	return path[0] != '\0' ? path : "artifact";
}
