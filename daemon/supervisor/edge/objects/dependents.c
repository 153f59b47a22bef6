/*
 * Happy path of a request that waits: msd_dependents_take() copies it into its own
 * request. Replies to other requests settle its futures. No request may start while a
 * reply is sent, so a task calls run() in the next loop iteration. The copied body is
 * written again with the values, and the request is resumed.
 *
 * Failures: if a named request failed, this one is rejected with the same text. Its
 * deadline, a cancel or the end of the connection frees it like any request.
 */
#include "daemon/supervisor/edge/objects/dependents.h"

#include <stdlib.h>

#include "daemon/supervisor/edge/edge.h"
#include "proto/value.h"

static bool is_promised(struct msd_span options)
{
	struct msd_cur c = msd_cur_of(msd_map_value(options, "promised"));
	struct msd_wire_value v;

	return c.left > 0 && msd_value_read(&c, &v, NULL) == MSD_OK &&
	       v.kind == MSD_K_BOOL && v.as.b;
}

bool msd_dependents_concerns(const struct msd_in *in)
{
	return in->body.kind == MSD_REQUEST &&
	       (in->body.n_results > 0 ||
		(in->body.options.n > 0 && is_promised(in->body.options)));
}

static void on_ready(struct msd_futures *p)
{
	msd_dependents_go_on(MSD_CONTAINER_OF(p, struct msd_dependents, promises));
}

static enum msd_task_result run(struct msd_task *t);

struct msd_dependents *msd_dependents_of(struct msd_session *s,
					 void (*resume)(struct msd_session *s,
							struct msd_in *in))
{
	struct msd_dependents *a = s->awaiting;

	if (a != NULL)
		return a;
	a = calloc(1, sizeof(*a));
	if (a == NULL)
		return NULL;
	a->session = s;
	a->resume = resume;
	a->wake = (struct msd_task){.step = run,
				    .class = MSD_TASK_ANSWER,
				    .peer = msd_peer_id_passer(s->client.peer)};
	msd_futures_init(&a->promises, &s->client.account, on_ready);
	s->awaiting = a;
	return a;
}

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	const char *method;
	const uint64_t id = msd_dependency_first(r->awaited, &method);

	(void)msd_diag_set(d, MSD_DEADLINE,
			   "the deadline of %llu ms passed while it waited for the "
			   "result of request %llu (%s)",
			   (unsigned long long)r->due.in_ms, (unsigned long long)id,
			   method);
}

static void on_answered(struct msd_req *r)
{
	(void)r;
}

static void on_freed(struct msd_req *r)
{
	msd_dependency_destroy(r->awaited);
}

/* The request never reaches a worker, so the other operations are never called. */
static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = on_answered, .on_freed = on_freed};

/* If the option is not a number of milliseconds, the full parser rejects it later. */
static void set_due(struct msd_req *r, struct msd_edge *e, const struct msd_in *in)
{
	struct msd_cur c = msd_cur_of(msd_map_value(in->body.options, "deadline_ms"));
	struct msd_wire_value v;

	if (c.left == 0 || msd_value_read(&c, &v, NULL) != MSD_OK ||
	    v.kind != MSD_K_INT || v.as.i < 0 || v.as.i > UINT32_MAX)
		return;
	r->due.is_clients = true;
	r->due.in_ms = (uint64_t)v.as.i;
	msd_req_set_due_from(r, e->deadlines, in->begun_ms, r->due.in_ms);
}

/* The request is in flight from now on. */
static msd_err wait(struct msd_dependents *a, const struct msd_in *in,
		    enum msd_method method, struct msd_dependency *awaited,
		    struct msd_diag *d)
{
	struct msd_session *s = a->session;
	struct msd_req *r = msd_req_new(&s->client, in->body.id, method);

	if (r != NULL)
		msd_buf_put(&r->job.params, in->bytes, in->n_bytes);
	if (r == NULL || r->job.params.bad) {
		if (r != NULL)
			msd_req_release(r);
		return msd_diag_no_memory(d);
	}
	awaited->req = r;
	awaited->begun_ms = in->begun_ms;
	awaited->payload_bytes = in->payload_bytes;
	r->awaited = awaited;
	r->ops = &req_ops;
	msd_req_hold(r, sizeof(*r) + sizeof(*awaited) + r->job.params.cap);
	set_due(r, s->edge, in);
	if (in->payload_bytes > 0)
		a->held = r;
	return MSD_OK;
}

/*
 * Write @body again with values in place of the result references, and parse it into
 * @in. @in keeps its count of references, so the call cache does not store it: it was
 * never looked up there.
 */
static msd_err write_anew(const struct msd_dependency *awaited, struct msd_span body,
			  struct msd_buf *room, struct msd_in *in, struct msd_diag *d)
{
	const uint32_t n_results = in->body.n_results;
	msd_err err = msd_dependency_write(awaited, body, room, d);

	if (err != MSD_OK)
		return err;
	in->bytes = room->p;
	in->n_bytes = room->n;
	err = msd_body_read((struct msd_span){room->p, room->n}, NULL, &in->body, d);
	in->body.n_results = n_results;
	return err == MSD_OK
		       ? MSD_OK
		       : msd_diag_set(d, MSD_BAD_REQUEST,
				      "with the results that it names the request is "
				      "nested too deep, or has too many objects");
}

/* Handle a request that names results. */
static msd_err await(struct msd_dependents *a, struct msd_in *in,
		     enum msd_method method, enum msd_dependence *ret,
		     struct msd_diag *d)
{
	const struct msd_span body = {in->bytes, in->n_bytes};
	struct msd_dependency *awaited;
	msd_err err = msd_dependency_new(&a->promises, in->body.id, body,
					 in->body.n_results, &awaited, d);

	if (err != MSD_OK)
		return err;
	if (msd_dependency_is_ready(awaited)) {
		err = write_anew(awaited, body, &a->body, in, d);
	} else {
		*ret = MSD_DEPENDENCE_RESULTS;
		err = wait(a, in, method, awaited, d);
		if (err == MSD_OK)
			return MSD_OK;
	}
	msd_dependency_destroy(awaited);
	return err;
}

msd_err msd_dependents_take(struct msd_dependents *a, struct msd_in *in,
			    enum msd_method method, enum msd_dependence *ret,
			    struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = MSD_DEPENDENCE_NOTHING;
	msd_dependents_pass(a); /* left from a rejected request */
	if (is_promised(in->body.options))
		err = msd_futures_expect(&a->promises, in->body.id, method, d);
	return err == MSD_OK && in->body.n_results > 0 ? await(a, in, method, ret, d)
						       : err;
}

static void refuse(struct msd_req *r, const struct msd_diag *why)
{
	if (r->method == MSD_M_CALL)
		msd_counts_lost_call(&msd_session_of(r)->edge->counts, why->code);
	msd_req_refuse_for(r, why);
}

/* Resume @awaited, which is ready. */
static void take_up(struct msd_dependents *a, struct msd_dependency *awaited)
{
	struct msd_req *r = awaited->req;
	struct msd_in in = {.body.n_results = awaited->n_uses,
			    .begun_ms = awaited->begun_ms,
			    .payload_bytes = awaited->payload_bytes};
	const struct msd_span before = {r->job.params.p, r->job.params.n};
	struct msd_buf body = {0};
	struct msd_diag d = {0};

	if (write_anew(awaited, before, &body, &in, &d) != MSD_OK) {
		refuse(r, &d);
	} else {
		if (r == a->held) {
			msd_buf_finish(&a->body);
			a->body = body;
			body = (struct msd_buf){0};
			a->held = NULL;
		}
		msd_req_release(r);
		a->resume(a->session, &in);
	}
	msd_buf_finish(&body);
	msd_diag_finish(&d);
}

/* A session receives one request at a time and keeps state only for that one. */
static struct msd_dependency *next(struct msd_dependents *a)
{
	return a->session->receiving == NULL ? msd_futures_ready(&a->promises) : NULL;
}

static enum msd_task_result run(struct msd_task *t)
{
	struct msd_dependents *a = MSD_CONTAINER_OF(t, struct msd_dependents, wake);
	struct msd_dependency *awaited = next(a);

	if (awaited != NULL)
		take_up(a, awaited);
	return next(a) != NULL ? MSD_TASK_AGAIN : MSD_TASK_DONE;
}

void msd_dependents_go_on(struct msd_dependents *a)
{
	if (next(a) != NULL)
		msd_task_begin(a->session->edge->deadlines->tasks, &a->wake);
}

void msd_dependents_pass(struct msd_dependents *a)
{
	msd_buf_finish(&a->body);
}

void msd_dependents_keep(struct msd_dependents *a, uint64_t id, struct msd_span result)
{
	msd_futures_keep(&a->promises, id, result);
}

void msd_dependents_keep_frame(struct msd_dependents *a, const struct msd_out *o)
{
	const struct msd_span bytes = {o->body.p + MSD_FRAME_HEADER_BYTES,
				       o->body.n - MSD_FRAME_HEADER_BYTES};
	struct msd_body body;

	if (o->body.bad || !msd_futures_expects(&a->promises, msd_memory_id(bytes.p)))
		return;
	if (msd_body_read(bytes, NULL, &body, NULL) == MSD_OK)
		msd_futures_keep(&a->promises, body.id, body.result);
}

void msd_dependents_fail(struct msd_dependents *a, uint64_t id,
			 const struct msd_diag *why)
{
	msd_futures_fail(&a->promises, id, why);
}

void msd_dependents_destroy(struct msd_dependents *a)
{
	if (a == NULL)
		return;
	msd_task_cancel(&a->wake);
	msd_futures_finish(&a->promises);
	msd_buf_finish(&a->body);
	free(a);
}
