/*
 * Happy path: the first fetch starts a process; each is a request on its channel, and
 * the response brings a sealed memfd; after the last one the channel is closed, which
 * ends the process. Failures: the process dies, and what it had not answered has
 * failed; it breaks the protocol, and is killed.
 */
#include "daemon/supervisor/fetch/fetcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/child/child.h"
#include "daemon/limits.h"
#include "daemon/supervisor/fetch/fetched.h"
#include "daemon/wire/conn.h"
#include "proto/errno_text.h"
#include "proto/method.h"
#include "proto/value.h"

#define MAX_BODY_BYTES (4u << 20) /* of a frame of its: a manifest's tests */

struct msd_fetch_process {
	struct msd_fetcher *fetcher;
	struct msd_child *child; /* NULL once it has exited */
	struct msd_conn channel;
	bool is_channel_closed;
};

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

	/* Whoever is told may begin another one. */
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

/* It takes no more requests; the end of its channel ends it. */
static void retire(struct msd_fetch_process *p)
{
	if (p->fetcher->process == p)
		p->fetcher->process = NULL;
	msd_conn_close(&p->channel, MSD_OK, "nothing is left to fetch");
}

static void retire_if_idle(struct msd_fetcher *fetcher)
{
	if (msd_list_is_empty(&fetcher->fetches) && fetcher->process != NULL)
		retire(fetcher->process);
}

static void process_free(struct msd_fetch_process *p)
{
	struct msd_fetcher *fetcher = p->fetcher;

	free(p);
	fetcher->n_processes--;
	fetcher->on_gone(fetcher);
}

static void on_child_closed(void *user)
{
	process_free(user);
}

/* Both ends have come; what it had not answered has failed, unless another has it. */
static void finish_if_over(struct msd_fetch_process *p)
{
	struct msd_fetcher *fetcher = p->fetcher;
	struct msd_child *child = p->child;

	if (!child->has_exited || !p->is_channel_closed)
		return;
	if (fetcher->process == p) {
		struct msd_buf why = {0};

		fetcher->process = NULL;
		msd_buf_printf(&why, "modserd-fetch died: ");
		msd_child_describe_end(child, &why);
		msd_buf_put_u8(&why, 0);
		fail_all(fetcher, MSD_IO,
			 why.bad ? "modserd-fetch died" : (const char *)why.p);
		msd_buf_finish(&why);
	}
	msd_child_close(child);
}

static void on_child_output(void *user, const char *bytes, size_t n)
{
	(void)user;
	(void)bytes;
	(void)n; /* its last words are kept by the child */
}

static void on_child_exit(void *user)
{
	struct msd_fetch_process *p = user;

	msd_child_read_output(p->child);
	if (!p->is_channel_closed)
		msd_conn_hear_out(&p->channel, MSD_OK, "the process exited");
	finish_if_over(p);
}

static const struct msd_child_ops child_ops = {.on_output = on_child_output,
					       .on_exit = on_child_exit,
					       .on_closed = on_child_closed};

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

/* Without a file, it must be one of those that are there. */
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
		return; /* it is what it was */
	f->etag_digest = got->source.sha256;
	(void)snprintf(f->etag, sizeof(f->etag), "%.*s",
		       (int)(got->etag.n < sizeof(f->etag) ? got->etag.n : 0),
		       (const char *)got->etag.p);
}

/* @got's source is taken. */
static void finish(struct msd_fetcher *fetcher, struct msd_fetch *f,
		   struct msd_fetched *got, struct msd_diag *d)
{
	forget(fetcher, f);
	note_etag(f, got);
	f->got = got;
	f->on_done(f, &got->source, got->file, d);
}

/* What has been signed is on the disk, or cannot be taken. */
static void on_vouched(struct msd_vouched *v, struct msd_diag *d)
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

/* @got's source is taken. */
static void take(struct msd_fetcher *fetcher, struct msd_fetch *f,
		 struct msd_fetched *got, struct msd_diag *d)
{
	struct msd_vouched *v;

	if (got->n_signers == 0) {
		finish(fetcher, f, got, d);
	} else if (msd_vouch_take(&fetcher->vouch, f->name, got, &v, d) != MSD_OK) {
		fail(fetcher, f, d);
	} else {
		v->id = f->id;
		v->user = fetcher;
		v->done = on_vouched;
	}
}

/* Of one that was cancelled meanwhile the descriptor alone is of interest. */
static void on_response(struct msd_fetch_process *p, const struct msd_body *b)
{
	struct msd_fetcher *fetcher = p->fetcher;
	struct msd_fetch *f = find(fetcher, b->id);
	struct msd_fetched got = {.source = {.fd = -1}};
	struct msd_body_error e;
	struct msd_diag d = {0};

	if (msd_body_error_read(b->error, &e)) {
		(void)msd_diag_set_bytes(&d, e.code, (const char *)e.message.p,
					 e.message.n);
	} else if (msd_fetched_read(&p->channel, fetcher->unpack, b->result, &got,
				    &d) == MSD_OK &&
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

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct msd_fetch_process *p = c->user;
	const struct msd_body *b = &in->body;

	if (p->fetcher->process != p)
		return; /* it was retired */
	if (b->kind == MSD_RESPONSE) {
		on_response(p, b);
	} else if (b->kind == MSD_NOTIFICATION &&
		   msd_method_find(b->method) == MSD_M_FETCH_PROGRESS) {
		on_progress(p->fetcher, b->params);
	}
	retire_if_idle(p->fetcher);
}

static void on_channel_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_fetch_process *p = c->user;

	(void)err;
	p->is_channel_closed = true;
	if (p->fetcher->process == p)
		msd_child_kill(p->child, why);
	finish_if_over(p);
}

static const struct msd_conn_ops channel_ops = {.on_frame = on_frame,
						.on_closed = on_channel_closed};

static msd_err open_channel(struct msd_fetch_process *p, int fd, struct msd_diag *d)
{
	const struct msd_conn_limits limits = {
		.max_body_bytes = MAX_BODY_BYTES,
		.max_queued_bytes = UINT64_MAX,
		.takes_fds = true,
		.takes_turns = true,
	};

	return msd_conn_open(&p->channel, p->fetcher->wire,
			     msd_transport_of_socket(fd, true), &channel_ops, &limits,
			     p, d);
}

static msd_err spawn(struct msd_fetch_process *p, int ends[2], struct msd_diag *d)
{
	char *argv[] = {p->fetcher->path, (char *)(uintptr_t) "--channel", NULL};
	const struct msd_child_how how = {.argv = argv, .fds = {ends[1]}, .n_fds = 1};
	msd_err err =
		msd_child_spawn(p->fetcher->reaper, &how, &child_ops, p, &p->child, d);

	(void)close(ends[1]);
	if (err != MSD_OK)
		(void)close(ends[0]);
	return err;
}

static msd_err start(struct msd_fetcher *fetcher, struct msd_diag *d)
{
	struct msd_fetch_process *p = calloc(1, sizeof(*p));
	char text[MSD_ERRNO_TEXT_BYTES];
	int ends[2];
	msd_err err = MSD_OK;

	if (p == NULL)
		return msd_diag_no_memory(d);
	p->fetcher = fetcher;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		err = msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	if (err == MSD_OK)
		err = spawn(p, ends, d);
	if (err != MSD_OK) {
		free(p);
		return msd_diag_wrap(d, err, "modserd-fetch");
	}
	fetcher->n_processes++;
	err = open_channel(p, ends[0], d);
	if (err != MSD_OK) { /* it is running: let it die like any other */
		p->is_channel_closed = true;
		msd_child_kill(p->child, "its channel could not be watched");
		return msd_diag_wrap(d, err, "modserd-fetch");
	}
	fetcher->process = p;
	return MSD_OK;
}

static enum msd_policy policy_of(const struct msd_fetcher *fetcher,
				 const struct msd_fetch *f)
{
	return f->policy != NULL ? *f->policy : fetcher->vouch.trust.policy;
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
	msd_pack_map(&o->body, 5u + MSD_VOUCH_KEYS + f->has_digest + (f->n_have > 0) +
				       (f->etag[0] != '\0' ? 2u : 0u));
	msd_pack_cstr(&o->body, "uri");
	msd_pack_cstr(&o->body, f->uri);
	msd_pack_cstr(&o->body, "name");
	msd_pack_cstr(&o->body, f->name);
	msd_vouch_put(&fetcher->vouch, f->name, policy_of(fetcher, f), &o->body);
	msd_pack_cstr(&o->body, "max_bytes");
	msd_pack_uint(&o->body, limits->max_upload);
	msd_pack_cstr(&o->body, "stall_ms");
	msd_pack_uint(&o->body, limits->fetch_stall_ms);
	msd_pack_cstr(&o->body, "retry_ms");
	msd_pack_uint(&o->body, limits->fetch_retry_ms);
	if (f->has_digest) {
		msd_pack_cstr(&o->body, "sha256");
		msd_pack_bin(&o->body, f->digest.b, MSD_DIGEST_BYTES);
	}
	if (f->n_have > 0) {
		msd_pack_cstr(&o->body, "have");
		msd_pack_bin(&o->body, f->have, f->n_have * MSD_DIGEST_BYTES);
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
	msd_conn_send(&fetcher->process->channel, o);
	return MSD_OK;
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
	if (policy_of(fetcher, f) == MSD_POLICY_SIGNED)
		err = msd_vouch_check(&fetcher->vouch, d);
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
	if (o == NULL) /* then it goes on for nobody, or has ended with all others */
		return;
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 1);
	msd_pack_uint(&o->body, f->id);
	msd_conn_send(&fetcher->process->channel, o);
}

void msd_fetcher_drain(struct msd_fetcher *fetcher)
{
	fail_all(fetcher, MSD_DRAINING, "the daemon is shutting down");
	if (fetcher->process != NULL)
		retire(fetcher->process);
}
