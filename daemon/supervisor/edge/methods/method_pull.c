/*
 * module.pull: the daemon fetches a module itself.
 *
 * Happy path: if the store has the digest, the module is read from there. Otherwise
 * modserd-fetch downloads it, and the client gets progress messages. Then it is
 * loaded like `module.load` of an upload with keep and replace, and the reply waits
 * for the module. Failures: the serving edition continues, and the reply says why. If
 * the client leaves, the pull ends at the next progress report.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/access/digest_access.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/load_options.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/edge/uploads/upload.h"
#include "daemon/supervisor/fetch/fetch_options.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/keep/lookup.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/request/job_waiter.h"
#include "proto/limits.h"
#include "proto/name.h"
#include "proto/unpack.h"

struct pull {
	struct msd_list link;         /* msd_edge.pulls */
	struct msd_store_lookup look; /* used first if the digest is known */
	struct msd_digest_access readable;
	struct msd_fetch fetch;
	struct msd_edge *edge;
	struct msd_job_waiter waiter;
	struct msd_pull_options options;
	char name[MSD_MAX_NAME_BYTES + 1];
	char *uri; /* owned */
	bool is_fetching;
};

static void pull_free(struct pull *p)
{
	msd_list_remove(&p->link);
	msd_digest_access_end(&p->readable);
	msd_buf_finish(&p->look.manifest);
	msd_buf_finish(&p->look.signature);
	free(p->uri);
	free(p);
}

static void tell_progress(const struct msd_req *r, uint64_t bytes, uint64_t total)
{
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return;
	msd_body_begin_notification(&o->body, "module.progress");
	msd_pack_array(&o->body, 3);
	msd_pack_uint(&o->body, r->client.id);
	msd_pack_uint(&o->body, bytes);
	msd_pack_uint(&o->body, total);
	msd_conn_send(&msd_frame_session_of(msd_session_of(r))->conn, o);
}

static void on_progress(struct msd_fetch *f, uint64_t bytes, uint64_t total)
{
	struct pull *p = MSD_CONTAINER_OF(f, struct pull, fetch);
	struct msd_req *r = msd_job_waiter_request(&p->waiter);

	if (r == NULL) {
		msd_log(MSD_LOG_INFO, "module_pull",
			"name=%s why=\"all clients that waited are gone\"", p->name);
		msd_fetcher_cancel(p->edge->fetcher, &p->fetch);
		pull_free(p);
	} else if (p->options.tells_progress) {
		tell_progress(r, bytes, total);
	}
}

static void log_fetched(const struct pull *p, const struct msd_source *source)
{
	char digest[MSD_DIGEST_TEXT];

	msd_digest_format(msd_source_edition(source), digest);
	/* The query string may contain secrets: it is not logged. */
	msd_log(MSD_LOG_INFO, "module_pull",
		"name=%s bytes=%llu sha256=%s uri=\"%.*s\"", p->name,
		(unsigned long long)source->bytes, digest, (int)strcspn(p->uri, "?"),
		p->uri);
}

/* Start the load. Takes @source, and @r on MSD_OK. */
static msd_err load(struct pull *p, struct msd_source *source, struct msd_span file,
		    struct msd_req *r, struct msd_diag *d)
{
	const struct msd_span name = msd_span_of(p->name);
	char *label = strndup((const char *)file.p, file.n);
	struct msd_load how = p->options.how;
	struct msd_module *m;

	if (label == NULL) {
		msd_source_finish(source);
		return msd_diag_no_memory(d);
	}
	log_fetched(p, source);
	how.file = label;
	how.source = *source;
	msd_err err = msd_manifest_tests_read(&p->fetch, &how, d);
	if (err == MSD_OK) {
		err = msd_module_load(p->edge->registry, name, &how, &m, d);
	} else {
		msd_source_finish(source);
	}
	free(label);
	if (err != MSD_OK)
		return err;
	msd_list_remove(&r->link);
	msd_module_adopt(m, r);
	msd_module_wait(m, r);
	return MSD_OK;
}

/* The module and its manifest are in the store: load them from there. */
static void load_again(struct pull *p)
{
	struct msd_repository *repository = p->edge->registry->repository;
	struct msd_req *r = msd_job_waiter_request(&p->waiter);

	if (r != NULL) {
		msd_list_remove(&r->link);
		repository->ops->load(repository, p->name, p->look.from,
				      p->look.ref == MSD_REF_PREVIOUS, &p->options.how,
				      r);
	}
	pull_free(p);
}

static void on_fetched(struct msd_fetch *f, struct msd_source *source,
		       struct msd_span file, struct msd_diag *d)
{
	struct pull *p = MSD_CONTAINER_OF(f, struct pull, fetch);
	struct msd_req *r = msd_job_waiter_request(&p->waiter);
	msd_err err = d->code;

	if (r == NULL) { /* the client left */
		msd_source_finish(source);
		pull_free(p);
		return;
	}
	if (err == MSD_OK && source->fd < 0) { /* the fetch only checked the signature:
						  the module is in the store */
		load_again(p);
		return;
	}
	if (err == MSD_OK)
		err = load(p, source, file, r, d);
	if (err != MSD_OK) {
		(void)msd_diag_wrap(d, err, "pull %s", p->name);
		msd_log(MSD_LOG_WARN, "module_pull", "name=%s why=\"%s\"", p->name,
			msd_diag_text(d));
		msd_req_refuse(r, err, msd_diag_text(d));
	}
	pull_free(p);
}

static msd_err check_name(const struct msd_edge *e, struct msd_span name,
			  struct msd_diag *d)
{
	msd_err err = msd_name_check(name, d);

	if (err != MSD_OK)
		return err;
	MSD_LIST_EACH (it, &e->pulls) {
		const struct pull *p = MSD_CONTAINER_OF(it, struct pull, link);
		if (msd_span_is(name, p->name)) {
			return msd_diag_set(
				d, MSD_EXISTS,
				"module %s: another pull of this module is running",
				p->name);
		}
	}
	return MSD_OK;
}

static msd_err read_params(struct pull *p, struct msd_method_call *c,
			   struct msd_diag *d)
{
	const msgpack_object *params = c->params->via.array.ptr;
	struct msd_span name, uri;
	msd_err err = msd_object_str(&params[0], "name", &name, d);

	if (err == MSD_OK)
		err = check_name(p->edge, name, d);
	if (err == MSD_OK)
		err = msd_object_str(&params[1], "uri", &uri, d);
	if (err == MSD_OK && c->params->via.array.size > 2)
		err = msd_pull_options_read(c, &p->options, d);
	if (err == MSD_OK && !p->edge->keeper->is_open) {
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "module.pull: this daemon has no store to pull "
				   "into; start it with --store DIR");
	}
	if (err != MSD_OK)
		return err;
	(void)snprintf(p->name, sizeof(p->name), "%.*s", (int)name.n,
		       (const char *)name.p);
	p->uri = strndup((const char *)uri.p, uri.n);
	if (p->uri == NULL)
		return msd_diag_no_memory(d);
	/* Check the limits before anything is downloaded. */
	return msd_module_check_room(p->edge->registry, name, &p->options.how, d);
}

bool msd_method_pull_stop(struct msd_edge *e, struct msd_span name)
{
	MSD_LIST_EACH_SAFE (it, &e->pulls) {
		struct pull *p = MSD_CONTAINER_OF(it, struct pull, link);
		struct msd_req *r = msd_job_waiter_request(&p->waiter);

		if (!msd_span_is(name, p->name))
			continue;
		msd_log(MSD_LOG_INFO, "module_pull",
			"name=%s why=\"the module was unloaded\"", p->name);
		if (r != NULL)
			msd_req_refuse(r, MSD_CANCELLED, "the module was unloaded");
		if (p->is_fetching) { /* otherwise the store lookup frees the pull when
					 it ends */
			msd_fetcher_cancel(e->fetcher, &p->fetch);
			pull_free(p);
		}
		return true; /* at most one pull per name */
	}
	return false;
}

static const struct msd_fetch_options *terms_of(const struct pull *p)
{
	struct msd_repository *repository = p->edge->registry->repository;

	return repository->ops->terms(repository, p->name);
}

/* Start the fetch with the options of the module's section. A reload may have changed
 * them by now. */
static msd_err fetch(struct pull *p, struct msd_diag *d)
{
	p->fetch.terms = terms_of(p);
	msd_err err = msd_fetcher_has_place(p->edge->fetcher, p->fetch.who, d);
	if (err == MSD_OK)
		err = msd_fetcher_begin(p->edge->fetcher, &p->fetch, d);
	p->is_fetching = err == MSD_OK;
	return err;
}

/* If the module must be signed, modserd-fetch first checks the stored manifest and
 * signature. */
static msd_err have_checked(struct pull *p, struct msd_diag *d)
{
	p->fetch.have = &p->look.edition;
	p->fetch.n_have = 1;
	p->fetch.manifest = (struct msd_span){p->look.manifest.p, p->look.manifest.n};
	p->fetch.signature =
		(struct msd_span){p->look.signature.p, p->look.signature.n};
	return fetch(p, d);
}

static void load_file(struct pull *p, struct msd_diag *d)
{
	struct msd_source source = {.fd = p->look.fd,
				    .bytes = p->look.bytes,
				    .part_bytes[MSD_PART_MODEL] = p->look.bytes,
				    .sha256 = p->look.digest};

	on_fetched(&p->fetch, &source, msd_promised_file(p->uri), d);
}

/* Load from the store without a network access if possible, else fetch. */
static void on_looked(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct pull *p = MSD_CONTAINER_OF(
		MSD_CONTAINER_OF(job, struct msd_store_lookup, job), struct pull, look);
	const bool has_edition = job->err == MSD_OK && p->look.ref != MSD_REF_COUNT;
	struct msd_diag d = {0};

	(void)keeper;
	if (job->err == MSD_DRAINING) {
		d = job->d;
		job->d = (struct msd_diag){0};
	}
	msd_diag_finish(&job->d);
	p->fetch.of_manifest = p->look.is_manifest;
	if (has_edition && !p->look.is_signed) {
		load_again(p);
		return;
	}
	if (d.code == MSD_OK && (has_edition || job->err != MSD_OK) &&
	    msd_job_waiter_request(&p->waiter) != NULL &&
	    (has_edition ? have_checked(p, &d) : fetch(p, &d)) == MSD_OK)
		return;
	load_file(p, &d);
	msd_diag_finish(&d);
}

static msd_err begin_bytes(struct pull *p, struct msd_session *s, struct msd_diag *d)
{
	p->fetch.uri = p->uri;
	p->fetch.name = p->name;
	p->fetch.on_progress = on_progress;
	p->fetch.on_done = on_fetched;
	p->fetch.has_digest = p->options.has_digest;
	p->fetch.digest = p->options.digest;
	p->fetch.terms = terms_of(p);
	p->look.digest = p->options.digest;
	if (!p->options.has_digest)
		p->look.is_name = msd_uri_digest_read(p->uri, &p->look.digest);
	if (!p->options.has_digest && !p->look.is_name)
		return fetch(p, d);
	p->look.is_signed = msd_fetcher_wants_signature(p->edge->fetcher, &p->fetch);
	p->look.name = p->name;
	p->look.max_bytes = p->edge->limits->max_upload;
	msd_digest_access_begin(&p->readable, s, &p->look);
	msd_store_lookup(p->edge->keeper, &p->look, on_looked);
	return MSD_OK;
}

static msd_err begin(struct pull *p, struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_req *r = msd_method_later(c);
	msd_err err;

	if (r == NULL)
		return msd_diag_no_memory(d);
	err = begin_bytes(p, c->session, d);
	if (err != MSD_OK) {
		msd_req_refuse(r, err, msd_diag_text(d));
		return err;
	}
	msd_job_waiter_init(&p->waiter, r,
			    "the deadline passed before all files were fetched");
	msd_list_append(&p->edge->pulls, &p->link);
	msd_counts_pull(&p->edge->counts);
	return MSD_OK;
}

msd_err msd_method_pull(struct msd_method_call *c, struct msd_diag *d)
{
	struct pull *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return msd_diag_no_memory(d);
	msd_list_init(&p->link);
	msd_job_waiter_init(&p->waiter, NULL, NULL);
	p->edge = c->session->edge;
	p->fetch.is_bounded = !msd_client_peer_is_operator(c->session->peer);
	if (p->fetch.is_bounded)
		p->fetch.who = c->session->peer->who;
	p->options.how = (struct msd_load){
		.source = {.fd = -1}, .replace = true, .begins = MSD_LOAD_READING_KEPT};
	msd_authorization_sign(c->session, &p->options.how);
	msd_err err = read_params(p, c, d);
	if (err == MSD_OK)
		err = begin(p, c, d);
	if (err != MSD_OK)
		pull_free(p);
	return c->later ? MSD_OK : err; /* its request was already answered */
}
