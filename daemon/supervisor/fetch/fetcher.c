/*
 * Happy path: the first fetch starts a process. Each fetch is a request on its
 * channel, and the response contains a sealed memfd. After the last fetch the process
 * is retired. Failures: if the process dies, the fetches without a response fail.
 */
#include "daemon/supervisor/fetch/fetcher.h"

#include <stdio.h>

#include "daemon/limits.h"
#include "daemon/stream/conn.h"
#include "daemon/supervisor/fetch/fetch_process.h"
#include "daemon/supervisor/fetch/fetched.h"
#include "proto/method.h"
#include "proto/value.h"

static struct msd_fetch *fetch_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_fetch, link);
}

static void forget(struct msd_fetcher *fetcher, struct msd_fetch *f)
{
	msd_list_remove(&f->link);
	fetcher->n_fetches--;
}

static void fail(struct msd_fetcher *fetcher, struct msd_fetch *f, struct msd_diag *d)
{
	struct msd_source none = {.fd = -1};

	forget(fetcher, f);
	f->on_done(f, &none, (struct msd_span){0}, d);
}

static void fail_all(struct msd_fetcher *fetcher, msd_err err, const char *why)
{
	struct msd_list failed;

	/* A callback may begin another fetch. */
	msd_list_init(&failed);
	MSD_LIST_EACH_SAFE (it, &fetcher->fetches) {
		msd_list_remove(it);
		msd_list_append(&failed, it);
	}
	while (!msd_list_is_empty(&failed)) {
		struct msd_diag d = {0};

		(void)msd_diag_set(&d, err, "%s", why);
		fail(fetcher, fetch_of(msd_list_first(&failed)), &d);
		msd_diag_finish(&d);
	}
}

static void retire(struct msd_fetcher *fetcher)
{
	struct msd_fetch_process *p = fetcher->process;

	fetcher->process = NULL;
	fetcher->wants_devices = false;
	if (p != NULL)
		msd_fetch_process_retire(p);
}

static void retire_if_idle(struct msd_fetcher *fetcher)
{
	if (msd_list_is_empty(&fetcher->fetches))
		retire(fetcher);
}

static struct msd_fetch *find(struct msd_fetcher *fetcher, uint64_t id)
{
	MSD_LIST_EACH (it, &fetcher->fetches) {
		if (fetch_of(it)->id == id)
			return fetch_of(it);
	}
	return NULL;
}

static bool has(const struct msd_fetch *f, const struct msd_digest *digest)
{
	for (uint32_t i = 0; i < f->n_have; i++) {
		if (msd_digest_equal(&f->have[i], digest))
			return true;
	}
	return f->etag[0] != '\0' && msd_digest_equal(&f->etag_digest, digest);
}

/* If there is no file, the digest must be one that the caller already has. */
static msd_err check_had(const struct msd_fetch *f, const struct msd_fetched *got,
			 struct msd_diag *d)
{
	if (got->source.fd >= 0 || has(f, &got->source.sha256))
		return MSD_OK;
	return msd_diag_set(d, MSD_INTERNAL, "modserd-fetch gave no file");
}

static void note_etag(struct msd_fetch *f, const struct msd_fetched *got)
{
	if (got->source.fd < 0 && got->etag.n == 0)
		return; /* unchanged */
	f->etag_digest = got->source.sha256;
	(void)snprintf(f->etag, sizeof(f->etag), "%.*s",
		       (int)(got->etag.n < sizeof(f->etag) ? got->etag.n : 0),
		       (const char *)got->etag.p);
}

/* Takes @got's source. */
static void finish(struct msd_fetcher *fetcher, struct msd_fetch *f,
		   struct msd_fetched *got, struct msd_diag *d)
{
	forget(fetcher, f);
	note_etag(f, got);
	f->got = got;
	f->on_done(f, &got->source, got->file, d);
}

/* The signed version is on the disk, or was rejected. */
static void on_vouched(struct msd_checked_trust *v, struct msd_diag *d)
{
	struct msd_fetcher *fetcher = v->user;
	struct msd_fetch *f = find(fetcher, v->id);

	if (f == NULL || d->code != MSD_OK)
		msd_source_finish(&v->got.source);
	if (f != NULL && d->code != MSD_OK) {
		fail(fetcher, f, d);
	} else if (f != NULL) {
		finish(fetcher, f, &v->got, d);
	}
	retire_if_idle(fetcher);
}

/* Takes @got's source. */
static void take(struct msd_fetcher *fetcher, struct msd_fetch *f,
		 struct msd_fetched *got, struct msd_diag *d)
{
	struct msd_checked_trust *v;

	if (got->n_signers == 0) {
		finish(fetcher, f, got, d);
	} else if (msd_signature_check_set(&fetcher->vouch, f->name, got, &v, d) !=
		   MSD_OK) {
		fail(fetcher, f, d);
	} else {
		v->id = f->id;
		v->user = fetcher;
		v->done = on_vouched;
	}
}

/* If the fetch was cancelled in between, only the descriptor must be taken. */
static void on_response(struct msd_fetcher *fetcher, struct msd_conn *channel,
			const struct msd_body *b)
{
	struct msd_fetch *f = find(fetcher, b->id);
	struct msd_fetched got = {.source = {.fd = -1}};
	struct msd_body_error e;
	struct msd_diag d = {0};

	if (msd_body_error_read(b->error, &e)) {
		(void)msd_diag_set_bytes(&d, e.code, (const char *)e.message.p,
					 e.message.n);
	} else if (msd_fetched_read(channel, fetcher->unpack, b->result, &got, &d) ==
			   MSD_OK &&
		   f != NULL) {
		(void)!check_had(f, &got, &d);
	}
	if (f == NULL || d.code != MSD_OK)
		msd_source_finish(&got.source);
	if (f != NULL && d.code != MSD_OK) {
		fail(fetcher, f, &d);
	} else if (f != NULL) {
		take(fetcher, f, &got, &d);
	}
	msd_diag_finish(&d);
}

/* [id, bytes, total] */
static void on_progress(struct msd_fetcher *fetcher, struct msd_span params)
{
	struct msd_wire_value v[3];
	struct msd_cur c;
	uint32_t n;

	if (!msd_array_open(params, &c, &n) || n != 3)
		return;
	for (unsigned i = 0; i < 3; i++) {
		if (msd_value_read(&c, &v[i], NULL) != MSD_OK ||
		    v[i].kind != MSD_K_INT || v[i].as.i < 0)
			return;
	}
	struct msd_fetch *f = find(fetcher, (uint64_t)v[0].as.i);
	if (f != NULL)
		f->on_progress(f, (uint64_t)v[1].as.i, (uint64_t)v[2].as.i);
}

void msd_fetcher_devices_known(struct msd_fetcher *fetcher)
{
	const struct msd_buf *devices =
		fetcher->wants_devices ? fetcher->devices(fetcher) : NULL;
	struct msd_out *o = devices != NULL ? msd_out_new() : NULL;

	if (o == NULL)
		return;
	fetcher->wants_devices = false;
	msd_body_begin_response(&o->body, fetcher->devices_id, false);
	msd_pack_nil(&o->body);
	msd_buf_put(&o->body, devices->p, devices->n);
	msd_fetch_process_send(fetcher->process, o);
}

static void on_devices_asked(struct msd_fetcher *fetcher, uint64_t id)
{
	fetcher->wants_devices = true;
	fetcher->devices_id = id;
	msd_fetcher_devices_known(fetcher);
}

static void on_frame(void *user, struct msd_conn *channel, const struct msd_body *b)
{
	struct msd_fetcher *fetcher = user;

	if (b->kind == MSD_RESPONSE) {
		on_response(fetcher, channel, b);
	} else if (b->kind == MSD_NOTIFICATION &&
		   msd_method_find(b->method) == MSD_M_FETCH_PROGRESS) {
		on_progress(fetcher, b->params);
	} else if (b->kind == MSD_REQUEST &&
		   msd_method_find(b->method) == MSD_M_FETCH_DEVICES) {
		on_devices_asked(fetcher, b->id);
	}
	retire_if_idle(fetcher);
}

static void on_died(void *user, const char *why)
{
	struct msd_fetcher *fetcher = user;

	fetcher->process = NULL;
	fetcher->wants_devices = false;
	fail_all(fetcher, MSD_IO, why);
}

static void on_gone(void *user)
{
	struct msd_fetcher *fetcher = user;

	fetcher->n_processes--;
	fetcher->on_gone(fetcher);
}

static const struct msd_fetch_process_ops process_ops = {
	.on_frame = on_frame, .on_died = on_died, .on_gone = on_gone};

static msd_err start(struct msd_fetcher *fetcher, struct msd_diag *d)
{
	const struct msd_keeper *keeper = fetcher->vouch.keeper;

	fetcher->n_processes++;
	return msd_fetch_process_start(fetcher->path,
				       keeper->is_open ? keeper->store.arriving : -1,
				       fetcher->reaper, fetcher->wire, &process_ops,
				       fetcher, &fetcher->process, d);
}

static enum msd_policy policy_of(const struct msd_fetcher *fetcher,
				 const struct msd_fetch *f)
{
	return f->terms != NULL && f->terms->has_policy ? f->terms->policy
							: fetcher->vouch.trust.policy;
}

static msd_err send_ask(struct msd_fetcher *fetcher, const struct msd_fetch *f,
			struct msd_diag *d)
{
	const struct msd_limits *limits = fetcher->limits;
	struct msd_out *o = msd_out_new();

	if (o == NULL)
		return msd_diag_no_memory(d);
	msd_body_begin_request(&o->body, f->id, "fetch.get", false);
	msd_pack_array(&o->body, 1);
	msd_pack_map(&o->body, 6u + MSD_TRUST_CHECK_KEYS + MSD_FETCH_OPTIONS_KEYS +
				       (f->is_bounded ? 1u : 0u) +
				       (f->has_digest ? 2u : 0u) + (f->n_have > 0) +
				       (f->manifest.n > 0 ? 2u : 0u) +
				       (f->etag[0] != '\0' ? 2u : 0u));
	msd_pack_cstr(&o->body, "uri");
	msd_pack_cstr(&o->body, f->uri);
	msd_pack_cstr(&o->body, "name");
	msd_pack_cstr(&o->body, f->name);
	msd_trust_check_put(&fetcher->vouch, f->name, policy_of(fetcher, f), &o->body);
	msd_fetch_options_put(f->terms, &fetcher->terms, &o->body);
	if (f->is_bounded)
		msd_fetch_options_put_bound(&fetcher->terms, &o->body);
	msd_pack_cstr(&o->body, "max_bytes");
	msd_pack_uint(&o->body, limits->max_upload);
	msd_pack_cstr(&o->body, "max_memory");
	msd_pack_uint(&o->body, limits->max_upload_memory);
	msd_pack_cstr(&o->body, "stall_ms");
	msd_pack_uint(&o->body, limits->fetch_stall_ms);
	msd_pack_cstr(&o->body, "retry_ms");
	msd_pack_uint(&o->body, limits->fetch_retry_ms);
	if (f->has_digest) {
		msd_pack_cstr(&o->body, "sha256");
		msd_pack_bin(&o->body, f->digest.b, MSD_DIGEST_BYTES);
		msd_pack_cstr(&o->body, "of_manifest");
		msd_pack_bool(&o->body, f->of_manifest);
	}
	if (f->n_have > 0) {
		msd_pack_cstr(&o->body, "have");
		msd_pack_bin(&o->body, f->have, f->n_have * MSD_DIGEST_BYTES);
	}
	if (f->manifest.n > 0) {
		msd_pack_cstr(&o->body, "manifest");
		msd_pack_bin(&o->body, f->manifest.p, f->manifest.n);
		msd_pack_cstr(&o->body, "signature");
		msd_pack_bin(&o->body, f->signature.p, f->signature.n);
	}
	if (f->etag[0] != '\0') {
		msd_pack_cstr(&o->body, "etag");
		msd_pack_cstr(&o->body, f->etag);
		msd_pack_cstr(&o->body, "etag_sha256");
		msd_pack_bin(&o->body, f->etag_digest.b, MSD_DIGEST_BYTES);
	}
	if (o->body.bad) {
		msd_out_destroy(o);
		return msd_diag_no_memory(d);
	}
	msd_fetch_process_send(fetcher->process, o);
	return MSD_OK;
}

bool msd_fetcher_wants_signature(const struct msd_fetcher *fetcher,
				 const struct msd_fetch *f)
{
	return policy_of(fetcher, f) == MSD_POLICY_SIGNED;
}

void msd_fetcher_init(struct msd_fetcher *fetcher)
{
	msd_list_init(&fetcher->fetches);
}

msd_err msd_fetcher_begin(struct msd_fetcher *fetcher, struct msd_fetch *f,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;

	if (fetcher->path == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "modserd-fetch is not installed beside this daemon "
				    "(libcurl was absent when it was built)");
	}
	if (fetcher->n_fetches >= fetcher->limits->max_pulls) {
		return msd_diag_set(d, MSD_BUSY, "%u pulls are the limit (max-pulls)",
				    fetcher->n_fetches);
	}
	f->id = ++fetcher->last_id;
	f->got = NULL;
	if (msd_fetcher_wants_signature(fetcher, f))
		err = msd_trust_check_check(&fetcher->vouch, d);
	if (err == MSD_OK && fetcher->process == NULL)
		err = start(fetcher, d);
	if (err == MSD_OK)
		err = send_ask(fetcher, f, d);
	if (err != MSD_OK) {
		retire_if_idle(fetcher);
		return err;
	}
	msd_list_append(&fetcher->fetches, &f->link);
	fetcher->n_fetches++;
	return MSD_OK;
}

void msd_fetcher_cancel(struct msd_fetcher *fetcher, struct msd_fetch *f)
{
	struct msd_out *o;

	forget(fetcher, f);
	retire_if_idle(fetcher);
	o = fetcher->process != NULL ? msd_out_new() : NULL;
	if (o == NULL) /* it continues without a caller, or has ended */
		return;
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 1);
	msd_pack_uint(&o->body, f->id);
	msd_fetch_process_send(fetcher->process, o);
}

void msd_fetcher_drain(struct msd_fetcher *fetcher)
{
	fail_all(fetcher, MSD_DRAINING, "the daemon is shutting down");
	retire(fetcher);
}
