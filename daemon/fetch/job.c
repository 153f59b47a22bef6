#include "daemon/fetch/job.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/fetch/target.h"

/*
 * Happy path: the plan names the next file. A transfer or the registry downloads it,
 * and the plan checks it. When no file is left, the download buffer is sealed.
 * Failures: any error ends the job. A cancelled job is freed when its transfer or
 * registry session has stopped.
 */

static void job_free(struct msd_job *job)
{
	msd_download_buffer_close(&job->landing);
	msd_download_buffer_close(&job->side);
	msd_pick_finish(&job->pick);
	msd_uri_finish(&job->uri);
	msd_fetch_steps_finish(&job->plan);
	msd_transfer_finish(&job->transfer);
	msd_network_options_finish(&job->reach);
	msd_list_remove(&job->link);
	msd_buf_finish(&job->asked);
	free(job->text);
	free(job->etag);
	free(job);
}

static void tell(struct msd_job *job, msd_err err, struct msd_diag *d)
{
	if (job->is_told)
		return;
	if (err == MSD_OK && !job->plan.is_had)
		err = msd_download_buffer_seal(&job->landing, &job->digest, d);
	if (err == MSD_OK && job->plan.is_had)
		job->digest = job->plan.edition;
	job->is_told = true;
	job->ops->on_ended(job, err, d);
}

static void on_brought(struct msd_transfer *t, msd_err err, struct msd_diag *d);

/* The file to read from a daemon's store; NULL means the manifest. */
static const struct msd_digest *file_of(const struct msd_job *job, uint64_t *ret_bytes)
{
	const struct msd_edition_file *f = msd_fetch_steps_file(&job->plan);

	*ret_bytes = f != NULL ? f->bytes : 0;
	if (job->plan.want != MSD_WANT_SIGNATURE)
		return f != NULL ? &f->digest : NULL;
	*ret_bytes = job->transfer.papers.signature_bytes;
	return &job->transfer.papers.signature;
}

/* The other daemon has reported that it has no signature. */
static bool lacks_signature(const struct msd_job *job)
{
	return job->uri.scheme == MSD_SCHEME_MODSER &&
	       job->plan.want == MSD_WANT_SIGNATURE &&
	       job->transfer.papers.signature_bytes == 0;
}

static msd_err explain_unsigned(const struct msd_job *job, struct msd_diag *d)
{
	return msd_diag_set(
		d, MSD_NOT_VERIFIED,
		"%s: the policy is \"signed\", but that daemon has no signature of the "
		"module, because it was loaded by hand or pulled unsigned: let that "
		"daemon pull a signed one, with --trust KEY or policy = \"signed\"",
		job->uri.shown);
}

static msd_err begin_transfer(struct msd_job *job, struct msd_diag *d)
{
	const struct msd_edition_file *f = msd_fetch_steps_file(&job->plan);
	const bool is_alone = job->plan.want == MSD_WANT_ALONE;
	char *url = NULL;
	const struct msd_digest *alone =
		is_alone && job->plan.has_digest ? &job->plan.digest : NULL;
	const struct msd_digest *digest = f != NULL ? &f->digest : alone;
	msd_err err = msd_fetch_target_open(job, f != NULL ? f->bytes : 0, digest, d);

	if (err == MSD_OK)
		err = msd_fetch_target_uri(job, &url, d);
	if (err != MSD_OK)
		return err;
	job->transfer.landing = msd_fetch_target_of(job);
	job->transfer.how = job->how;
	job->transfer.file = file_of(job, &job->transfer.file_bytes);
	job->transfer.known_etag = is_alone ? job->etag : NULL;
	job->transfer.on_done = on_brought;
	if (is_alone)
		job->landing.sink.is_checked = job->plan.has_digest;
	err = msd_transfer_begin(&job->transfer, job->net, url, d);
	free(url);
	return err;
}

static bool is_signed(const struct msd_job *job)
{
	return job->plan.order.trust.policy == MSD_POLICY_SIGNED;
}

/* If a signature is required, the file itself is requested last. Check its path
 * first, so that a mistyped path is not reported as an unsigned module. */
static msd_err find_slip(const struct msd_job *job, struct msd_diag *d)
{
	if (job->uri.scheme != MSD_SCHEME_FILE || job->reach.is_bounded ||
	    !is_signed(job) || job->plan.want != MSD_WANT_MANIFEST ||
	    access(job->uri.path, F_OK) == 0 || errno != ENOENT)
		return MSD_OK;
	msd_diag_finish(d);
	*d = (struct msd_diag){0};
	return msd_diag_set(d, MSD_NOT_FOUND, "%s: there is no such file",
			    job->uri.shown);
}

/* The manifest or the signature is not available. If no signature is required here,
 * the manifest is parsed now. */
static msd_err lack(struct msd_job *job, struct msd_diag *d)
{
	const bool reads = job->plan.want == MSD_WANT_SIGNATURE && !is_signed(job);
	msd_err err = find_slip(job, d);

	if (err != MSD_OK)
		return err;
	err = msd_fetch_steps_lacks(&job->plan, d);

	return err != MSD_OK && reads ? msd_diag_wrap(d, err, "%s", job->uri.shown)
				      : err;
}

static msd_err bring(struct msd_job *job, struct msd_diag *d)
{
	if (lacks_signature(job)) {
		if (is_signed(job))
			return explain_unsigned(job, d);
		(void)msd_diag_set(d, MSD_NOT_FOUND, "no signature");
		const msd_err err = lack(job, d);

		if (err != MSD_OK || job->plan.want == MSD_WANT_NOTHING)
			return err;
	}
	return begin_transfer(job, d);
}

static void on_brought(struct msd_transfer *t, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = MSD_CONTAINER_OF(t, struct msd_job, transfer);

	if (job->is_told) {
		job_free(job);
		return;
	}
	if (err == MSD_OK && t->is_known) {
		msd_fetch_steps_known(&job->plan, &job->etag_digest);
	} else if (err == MSD_OK) {
		err = msd_fetch_target_look(job, d);
		if (msd_fetch_target_again(job, err, d))
			err = MSD_OK;
	} else if (msd_fetch_target_is_text(job) &&
		   job->uri.scheme != MSD_SCHEME_MODSER) {
		err = lack(job, d);
	}
	if (err == MSD_OK && job->plan.want != MSD_WANT_NOTHING)
		err = bring(job, d);
	if (err == MSD_OK && job->plan.want != MSD_WANT_NOTHING)
		return;
	tell(job, err, d);
	job_free(job);
}

static struct msd_job *of_oci(struct msd_oci *o)
{
	return MSD_CONTAINER_OF(o, struct msd_job, oci);
}

/* An ETag of the model: it changes with the registry's manifest and the wanted file. */
static void set_version(struct msd_job *job)
{
	struct msd_digest digest = job->oci.first;
	char text[MSD_DIGEST_TEXT];

	if (job->uri.file[0] != '\0') {
		struct sha256_ctx hash;

		sha256_init(&hash);
		sha256_update(&hash, MSD_DIGEST_BYTES, digest.b);
		sha256_update(&hash, strlen(job->uri.file),
			      (const uint8_t *)job->uri.file);
		sha256_digest(&hash, MSD_DIGEST_BYTES, digest.b);
	}
	msd_digest_format(&digest, text);
	(void)snprintf(job->version, sizeof(job->version), "\"%s\"", text);
}

static void on_looked(struct msd_pick *p, msd_err err, struct msd_diag *d);

/* The artifact has no manifest of a module: its layers are looked at. */
static msd_err begin_pick(struct msd_job *job, struct msd_diag *d)
{
	const struct msd_oci_layer *layer;

	job->pick.landing = &job->landing;
	job->pick.wanted = job->uri.file;
	job->pick.digest = job->plan.has_digest ? &job->plan.digest : NULL;
	job->pick.on_looked = on_looked;
	msd_pick_begin(&job->pick, &job->oci.manifest);
	layer = msd_pick_layer(&job->pick);
	if (layer == NULL)
		return msd_pick_end(&job->pick, d);
	if (job->oci.manifest.n_layers == 1 && job->uri.file[0] == '\0') {
		return msd_fetch_steps_announce(&job->plan, &layer->blob.digest,
						layer->may_be_archive, d);
	}
	return MSD_OK;
}

/* Take the files of the registry's manifest that the plan needs first. */
static msd_err begin_layers(struct msd_job *job, struct msd_diag *d)
{
	msd_err err;

	if (job->oci.manifest.has_manifest)
		return MSD_OK;
	(void)msd_diag_set(d, MSD_NOT_FOUND, "%s has no manifest", job->uri.shown);
	err = msd_fetch_steps_lacks(&job->plan, d);
	if (err != MSD_OK)
		return err;
	set_version(job);
	if (job->etag != NULL && strcmp(job->etag, job->version) == 0 &&
	    (!job->plan.has_digest ||
	     msd_digest_equal(&job->plan.digest, &job->etag_digest))) {
		msd_fetch_steps_known(&job->plan, &job->etag_digest);
		return MSD_OK;
	}
	err = begin_pick(job, d);
	return err != MSD_OK ? msd_diag_wrap(d, err, "%s", job->uri.shown) : err;
}

/* The entry of the registry's manifest for the wanted file. */
static const struct msd_oci_blob *blob_of(const struct msd_job *job)
{
	const struct msd_oci_manifest *m = &job->oci.manifest;

	if (job->plan.want == MSD_WANT_ALONE)
		return &msd_pick_layer(&job->pick)->blob;
	return job->plan.want == MSD_WANT_SIGNATURE ? &m->signature : &m->blob;
}

/* The files of a module are checked against its manifest. All other layers are checked
 * against the registry's digest. */
static msd_err check_layer(struct msd_job *job, struct msd_diag *d)
{
	char is_text[MSD_DIGEST_TEXT], expected_text[MSD_DIGEST_TEXT];
	struct msd_digest is;

	if (job->plan.want == MSD_WANT_FILE)
		return MSD_OK;
	const struct msd_digest *expected = &blob_of(job)->digest;
	msd_download_buffer_digest(msd_fetch_target_of(job), &is);
	if (msd_digest_equal(&is, expected))
		return MSD_OK;
	msd_digest_format(&is, is_text);
	msd_digest_format(expected, expected_text);
	return msd_diag_set(
		d, MSD_NOT_VERIFIED,
		"%s: the SHA-256 of a layer is %s, but the registry says %s",
		job->uri.shown, is_text, expected_text);
}

static msd_err want_layer(struct msd_job *job, struct msd_diag *d)
{
	const struct msd_oci_manifest *m = &job->oci.manifest;
	const struct msd_edition_file *f = msd_fetch_steps_file(&job->plan);
	msd_err err;

	if (job->plan.want == MSD_WANT_SIGNATURE && !m->has_signature) {
		(void)msd_diag_set(d, MSD_NOT_FOUND, "%s has no signature",
				   job->uri.shown);
		err = lack(job, d);
		return err != MSD_OK || job->plan.want == MSD_WANT_NOTHING
			       ? err
			       : want_layer(job, d);
	}
	const struct msd_digest *digest =
		f != NULL ? &f->digest : &blob_of(job)->digest;
	const uint64_t bytes = f != NULL ? f->bytes : blob_of(job)->bytes;
	err = msd_fetch_target_open(job, bytes, digest, d);
	if (err == MSD_OK)
		msd_oci_want(&job->oci, digest, &msd_fetch_target_of(job)->sink);
	return err;
}

/* A layer arrived. *@ret_waits: a thread looks into it. */
static msd_err take_layer(struct msd_job *job, bool *ret_waits, struct msd_diag *d)
{
	msd_err err = check_layer(job, d);

	*ret_waits = err == MSD_OK && job->plan.want == MSD_WANT_ALONE;
	if (*ret_waits) {
		msd_oci_pause(&job->oci);
		return msd_pick_look(&job->pick, job->net->loop, d);
	}
	if (err == MSD_OK)
		err = msd_fetch_target_look(job, d);
	return msd_fetch_target_again(job, err, d) ? MSD_OK : err;
}

static msd_err on_next(struct msd_oci *o, struct msd_diag *d)
{
	struct msd_job *job = of_oci(o);
	bool waits = false;
	msd_err err;

	if (!job->has_layers) {
		job->has_layers = true;
		err = begin_layers(job, d);
	} else {
		err = take_layer(job, &waits, d);
	}
	if (err != MSD_OK || waits || job->plan.want == MSD_WANT_NOTHING)
		return err;
	return want_layer(job, d);
}

static void on_looked(struct msd_pick *p, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = MSD_CONTAINER_OF(p, struct msd_job, pick);

	if (err == MSD_OK && msd_pick_layer(p) != NULL) {
		err = want_layer(job, d);
	} else {
		if (err == MSD_OK)
			err = msd_pick_end(p, d);
		if (err != MSD_OK) {
			(void)msd_diag_wrap(d, err, "%s", job->uri.shown);
		} else {
			err = msd_fetch_target_look(job, d);
		}
	}
	msd_oci_resume(&job->oci, err, d);
}

static void on_registry_done(struct msd_oci *o, msd_err err, struct msd_diag *d)
{
	struct msd_job *job = of_oci(o);

	tell(job, err, d);
	msd_oci_close(o);
	job_free(job);
}

static msd_err keep_ask(struct msd_job *job, const struct msd_job_ask *ask,
			struct msd_diag *d)
{
	struct msd_fetch_steps *p = &job->plan;

	p->order = ask->order;
	(void)snprintf(p->name, sizeof(p->name), "%s", ask->name);
	p->has_digest = ask->has_digest;
	p->digest = ask->digest;
	p->max_bytes = ask->max_bytes;
	p->machine = ask->machine;
	msd_buf_put(&p->have, ask->have.p, ask->have.n);
	job->how = ask->how;
	job->how.reach = &job->reach;
	job->etag_digest = ask->etag_digest;
	job->of_manifest = ask->of_manifest;
	job->text = strdup(ask->uri);
	job->etag = ask->etag != NULL ? strdup(ask->etag) : NULL;
	return p->have.bad || job->text == NULL ||
			       (ask->etag != NULL && job->etag == NULL)
		       ? msd_diag_no_memory(d)
		       : MSD_OK;
}

static msd_err begin(struct msd_job *job, const struct msd_job_ask *ask,
		     struct msd_diag *d)
{
	const bool is_oci = job->uri.scheme == MSD_SCHEME_OCI;
	const bool is_origin = job->uri.scheme == MSD_SCHEME_MODSER;
	msd_err err;

	if (job->plan.order.trust.policy == MSD_POLICY_DIGEST &&
	    msd_oci_is_by_digest(&job->uri))
		job->plan.order.trust.policy = MSD_POLICY_UNSIGNED;
	err = msd_fetch_steps_begin(&job->plan,
				    !is_oci && !is_origin && !job->of_manifest, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", job->uri.shown);
	job->is_settled =
		msd_fetch_steps_settle(&job->plan, ask->manifest, ask->signature, d);
	if (job->is_settled)
		return MSD_OK;
	if (!is_oci)
		return bring(job, d);
	job->oci = (struct msd_oci){
		.net = job->net,
		.how = job->how,
		.is_listed = msd_network_options_is_free(&job->reach, job->text),
		.machine = job->plan.machine,
		.on_next = on_next,
		.on_done = on_registry_done};
	return msd_oci_begin(&job->oci, &job->uri, d);
}

msd_err msd_job_begin(struct msd_net *net, struct msd_job_ask *ask,
		      const struct msd_job_ops *ops, void *user, uint64_t id,
		      struct msd_job **ret, struct msd_diag *d)
{
	struct msd_job *job = calloc(1, sizeof(*job));
	msd_err err;

	if (job == NULL)
		return msd_diag_no_memory(d);
	msd_list_init(&job->link);
	job->landing.fd = job->side.fd = -1;
	job->reach = ask->reach;
	ask->reach = (struct msd_network_options){0};
	job->ops = ops;
	job->net = net;
	job->user = user;
	job->id = id;
	err = keep_ask(job, ask, d);
	if (err == MSD_OK)
		err = msd_uri_read(ask->uri, job->reach.insecure, &job->uri, d);
	if (err == MSD_OK)
		err = msd_download_buffer_open(&job->landing, ask->max_bytes, d);
	job->landing.room = ask->room;
	msd_resume_file_init(&job->landing.saved, ask->arriving, ask->max_bytes);
	job->landing.saved.owner = job->reach.is_bounded ? job->plan.name : NULL;
	if (err == MSD_OK)
		err = begin(job, ask, d);
	if (err != MSD_OK) {
		job_free(job);
		return err;
	}
	*ret = job;
	return MSD_OK;
}

void msd_job_settle(struct msd_job *job, struct msd_diag *d)
{
	tell(job, d->code, d);
	job_free(job);
}

static void on_left(struct msd_work *work)
{
	struct msd_pick *p = MSD_CONTAINER_OF(work, struct msd_pick, work);

	job_free(MSD_CONTAINER_OF(p, struct msd_job, pick));
}

void msd_job_cancel(struct msd_job *job)
{
	if (job->is_told)
		return;
	job->is_told = true;
	msd_list_remove(&job->link);
	if (job->pick.work.is_begun) {
		msd_oci_close(&job->oci);
		msd_work_leave(&job->pick.work, on_left);
	} else if (job->uri.scheme == MSD_SCHEME_OCI) {
		msd_oci_close(&job->oci);
		job_free(job);
	} else {
		msd_transfer_cancel(&job->transfer);
	}
}
