/*
 * Happy path: who asks is found, the model, what its JSON says becomes a call; the call
 * is asked for, placed and submitted as one that came in a frame; its answer comes by
 * msd_client_ops, and the visit writes it.
 *
 * Failures: what is wrong is answered before anything is claimed. No room now: the call
 * waits, and with it its connection. Who goes takes its call along, as everywhere.
 */
#include "daemon/supervisor/http/infer.h"

#include <stdlib.h>

#include "daemon/http/reader.h"
#include "daemon/limits.h"
#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/share.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/infer_make.h"
#include "daemon/supervisor/http/infer_result.h"
#include "daemon/supervisor/http/repository.h"
#include "daemon/supervisor/module/module.h"

#define RETRY_AFTER_S 1u

struct msd_infer {
	struct msd_infer_ask ask;
	struct msd_infer_call call;
	struct msd_buf model;   /* its name, as it was asked for */
	struct msd_in in;       /* the call, as of a frame */
	struct msd_span behind; /* its JSON; the reader's */
	bool is_starting;       /* who started it looks at the answer itself */
};

static struct msd_caller *caller_of(struct msd_client *c)
{
	return MSD_CONTAINER_OF(MSD_CONTAINER_OF(c, struct msd_session, client),
				struct msd_caller, session);
}

static void stop_waiting(struct msd_session *s)
{
	s->receiving = NULL;
	msd_list_remove(&s->space_link);
}

/* It is in `asking`. */
static void answered(struct msd_caller *c)
{
	stop_waiting(&c->session);
	c->asking.is_later = false;
	if (!c->infer->is_starting)
		c->on_answer(c);
}

/* What may be otherwise in a moment. */
static bool is_passing(unsigned status)
{
	return status == 503 || status == 429;
}

static unsigned retry_after_s(const struct msd_diag *d)
{
	const uint64_t s = (d->retry_after_ms + 999) / 1000;

	return s == 0 ? RETRY_AFTER_S : s < UINT32_MAX ? (unsigned)s : UINT32_MAX;
}

static void fail(struct msd_asking *a, unsigned status, struct msd_diag *d)
{
	const unsigned wait_s = is_passing(status) ? retry_after_s(d) : 0;

	msd_counts_error(&a->edge->counts, d->code);
	msd_asking_fail(a, status, d);
	a->reply.retry_after_s = wait_s;
}

static void reply_error(struct msd_client *client, uint64_t id,
			const struct msd_diag *why)
{
	struct msd_caller *c = caller_of(client);
	struct msd_diag d = {0};

	(void)id;
	(void)msd_diag_set(&d, why->code, "%s", msd_diag_text(why));
	d.retry_after_ms = why->retry_after_ms;
	fail(&c->asking, msd_asking_status(d.code), &d);
	answered(c);
}

/* No call is answered so: a worker's response is forwarded. */
static void reply(struct msd_client *client, uint64_t id, const struct msd_buf *result)
{
	struct msd_diag d = {0};

	(void)result;
	(void)msd_diag_set(&d, MSD_INTERNAL, "an answer that is no call's");
	reply_error(client, id, &d);
	msd_diag_finish(&d);
}

static void let_go(struct msd_caller *c, struct msd_out *o, bool sent)
{
	if (o == NULL)
		return;
	if (o->written != NULL) {
		o->written->tell(o->written,
				 msd_wire_now_ns(c->asking.edge->wire) - o->since_ns,
				 sent);
	}
	if (o->on_done != NULL)
		o->on_done(o->ctx, sent);
	msd_out_destroy(o);
}

static void drop_tail(struct msd_caller *c)
{
	free(c->tail);
	c->tail = NULL;
	c->n_tail = 0;
}

static void forward(struct msd_client *client, struct msd_out *o)
{
	struct msd_caller *c = caller_of(client);
	struct msd_infer *i = c->infer;
	const struct msd_infer_wish wish = {
		.ask = &i->ask, .call = &i->call, .model = {i->model.p, i->model.n}};
	struct msd_diag d = {0};

	o->since_ns = msd_wire_now_ns(c->asking.edge->wire);
	msd_asking_say_json(&c->asking, 200);
	const msd_err err = msd_infer_result(c, &wish, o, &d);
	if (err != MSD_OK) {
		drop_tail(c);
		c->asking.reply.behind_bytes = 0;
		c->asking.reply.has_tensors = false;
		msd_asking_fail(&c->asking, msd_asking_status(err), &d);
	}
	if (c->n_tail > 0) {
		c->held = o;
	} else {
		let_go(c, o, true);
	}
	answered(c);
}

static void on_done(struct msd_client *client, const struct msd_req *r)
{
	(void)client;
	(void)r; /* it was answered, and that ended the waiting; or all of it ends */
}

const struct msd_client_ops msd_infer_client_ops = {.reply = reply,
						    .reply_error = reply_error,
						    .forward = forward,
						    .on_done = on_done};

static void submit(struct msd_caller *c, struct msd_req *r)
{
	const struct msd_infer *i = c->infer;

	if (i->call.payload_bytes > 0)
		msd_infer_put_inputs(&i->call, i->behind, r->placement.slot.p);
	c->infer->behind = (struct msd_span){0};
	stop_waiting(&c->session);
	msd_call_submit(r);
}

void msd_infer_on_room(struct msd_session *s)
{
	struct msd_caller *c = MSD_CONTAINER_OF(s, struct msd_caller, session);
	struct msd_req *r = s->receiving;
	struct msd_diag d = {0};
	const msd_err err = msd_share_place(s, r, c->infer->call.payload_bytes, &d);

	if (err == MSD_OK) {
		submit(c, r);
	} else if (err != MSD_WAIT) {
		msd_req_refuse(r, err, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

/* As for any call, before anything is done for it; whether the model is there or not,
 * who may not is told the same. False: it was answered. */
static bool may_call(struct msd_asking *a)
{
	struct msd_session *s = &a->caller->session;
	struct msd_buf params = {0};
	struct msd_diag d = {0};
	struct msd_model m;

	if (!msd_bearer_stand(a))
		return false;
	const bool is_found =
		msd_model_find(a->edge->house, a->names[0], &m, NULL) == MSD_OK;
	msd_infer_put_target(&params, a->names[0], is_found ? &m : NULL);
	const struct msd_in in = {
		.body = {.kind = MSD_REQUEST, .params = {params.p, params.n}}};
	const msd_err err = params.bad ? msd_diag_no_memory(&d)
				       : msd_standing_ask(s, &in, MSD_M_CALL, &d);
	if (err != MSD_OK) {
		const bool wants_token =
			err == MSD_REFUSED && msd_bearer_is_anonymous(a);
		msd_counts_lost_call(&a->edge->counts, err);
		fail(a, wants_token ? 401 : msd_asking_status(err), &d);
		a->reply.wants_token = wants_token;
	}
	msd_buf_finish(&params);
	return err == MSD_OK;
}

/* Its user may ask for so much in a second. */
static bool may_spend(struct msd_asking *a, const struct msd_infer *i)
{
	struct msd_diag d = {0};

	if (msd_standing_spend(&a->caller->session, &i->in, MSD_M_CALL, &d) == MSD_OK)
		return true;
	msd_counts_lost_call(&a->edge->counts, MSD_BUSY);
	fail(a, 429, &d);
	return false;
}

/* It is sent, it waits for room, or it is answered with what is wrong. */
static msd_err start(struct msd_caller *c, struct msd_diag *d)
{
	struct msd_session *s = &c->session;
	struct msd_infer *i = c->infer;
	struct msd_req *r = NULL;
	msd_err err = msd_call_prepare(s, &i->in, MSD_M_CALL, &r, d);

	if (err != MSD_OK)
		return err;
	err = msd_share_place(s, r, i->call.payload_bytes, d);
	c->asking.is_later = err == MSD_OK || err == MSD_WAIT;
	if (err == MSD_OK) {
		submit(c, r);
	} else if (err == MSD_WAIT) {
		s->receiving = r;
		msd_list_append(&s->edge->space_waiters, &s->space_link);
	} else {
		msd_call_drop(r, err);
		return err;
	}
	return MSD_OK;
}

/* How much of the body is JSON; false: the field is no such number. */
static bool split_body(const struct msd_http_request *q, struct msd_span *ret_text,
		       struct msd_span *ret_behind)
{
	const struct msd_span field = q->fields[MSD_HTTP_F_INFERENCE_HEADER];
	size_t n = field.p != NULL ? 0 : q->body.n;

	for (size_t i = 0; field.p != NULL && i < field.n; i++) {
		if (field.p[i] < '0' || field.p[i] > '9' || n > q->body.n)
			return false;
		n = 10 * n + (size_t)(field.p[i] - '0');
	}
	if (n > q->body.n || n > MSD_INFER_JSON_BYTES ||
	    (field.p != NULL && field.n == 0))
		return false;
	*ret_text = (struct msd_span){q->body.p, n};
	*ret_behind = (struct msd_span){q->body.p + n, q->body.n - n};
	return true;
}

static msd_err read_request(struct msd_asking *a, const struct msd_model *m,
			    struct msd_infer *i, struct msd_diag *d)
{
	struct msd_span text;
	msd_err err;

	if (!split_body(a->request, &text, &i->behind)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "Inference-Header-Content-Length: expected a "
				    "number of bytes of the body, at most 1 MiB");
	}
	err = msd_infer_ask_read(&i->ask, text, i->behind.n, d);
	if (err == MSD_OK)
		err = msd_infer_make(m, &i->ask, &i->call, d);
	if (err == MSD_OK && i->call.payload_bytes > a->edge->limits->max_payload) {
		err = msd_diag_set(d, MSD_TOO_LARGE,
				   "the inputs are more than the %llu bytes of "
				   "--max-payload",
				   (unsigned long long)a->edge->limits->max_payload);
	}
	i->in = msd_infer_in(&i->call, a->caller->session.number,
			     uv_now(a->edge->loop));
	return err == MSD_OK ? msd_infer_ask_settle(&i->ask, d) : err;
}

/* False: it was answered. */
static bool find_model(struct msd_asking *a, struct msd_model *ret)
{
	struct msd_diag d = {0};

	if (!msd_repository_find(a, ret) || msd_repository_refuse_unknown(a, ret))
		return false;
	if (ret->function.n > 0)
		return true;
	(void)msd_diag_set(&d, MSD_NOT_FOUND,
			   "%s has no function that is its model: ask for %s:FUNCTION",
			   ret->module->crew.name, ret->module->crew.name);
	fail(a, 404, &d);
	return false;
}

void msd_infer(struct msd_asking *a)
{
	struct msd_caller *c = a->caller;
	struct msd_diag d = {0};
	struct msd_model m;

	if (!may_call(a) || !find_model(a, &m))
		return;
	c->infer = calloc(1, sizeof(*c->infer));
	if (c->infer == NULL) {
		(void)msd_diag_no_memory(&d);
		fail(a, 503, &d);
		return;
	}
	c->infer->is_starting = true;
	msd_buf_put(&c->infer->model, a->names[0].p, a->names[0].n);
	msd_err err = read_request(a, &m, c->infer, &d);
	if (err != MSD_OK)
		msd_counts_lost_call(&a->edge->counts, err);
	if (err == MSD_OK && may_spend(a, c->infer))
		err = start(c, &d);
	if (err != MSD_OK)
		fail(a, msd_asking_status(err), &d);
	c->infer->is_starting = false;
}

void msd_infer_end(struct msd_caller *c, bool sent)
{
	let_go(c, c->held, sent);
	c->held = NULL;
	drop_tail(c);
	if (c->infer == NULL)
		return;
	msd_infer_ask_finish(&c->infer->ask);
	msd_infer_call_finish(&c->infer->call);
	msd_buf_finish(&c->infer->model);
	free(c->infer);
	c->infer = NULL;
}

size_t msd_infer_bytes(const struct msd_caller *c)
{
	const struct msd_infer *i = c->infer;

	if (i == NULL)
		return c->asking.body.cap;
	return c->asking.body.cap + sizeof(*i) + msd_infer_ask_bytes(&i->ask) +
	       i->call.params.cap + i->call.values.cap +
	       i->call.n_places * sizeof(*i->call.places);
}

bool msd_infer_needs_body(const struct msd_caller *c)
{
	return c->infer != NULL && c->infer->behind.n > 0;
}
