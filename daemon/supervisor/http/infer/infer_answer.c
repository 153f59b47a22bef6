/*
 * Happy path: a worker's response arrives through msd_client_ops, and its JSON is
 * written, at once or on a thread. The HTTP connection sends it, followed by the
 * tensors in place. Failures: an error becomes an HTTP status. If the client is gone,
 * no reply is sent, and all resources are released.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/receiving.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/infer/infer_state.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "proto/base/grow.h"

#define COPY_AT_ONCE 65536u /* bytes of a text; a longer text is sent in place */

static struct msd_http_session *caller_of(struct msd_client *c)
{
	return MSD_CONTAINER_OF(MSD_CONTAINER_OF(c, struct msd_session, client),
				struct msd_http_session, session);
}

/* Inputs that are still arriving have no slot any more. */
void msd_infer_stop_waiting(struct msd_http_session *c)
{
	if (c->session.receiving != NULL)
		msd_receiving_ended(&c->session);
	c->inputs.n = 0;
	if (c->infer == NULL)
		return;
	c->infer->is_taking = false;
	msd_task_cancel(&c->infer->putting);
}

/* The reply is in `asking`. */
static void answered(struct msd_http_session *c)
{
	msd_infer_stop_waiting(c);
	c->asking.is_later = false;
	if (!c->is_starting)
		c->on_answer(c);
}

void msd_infer_fail(struct msd_http_exchange *a, unsigned status, struct msd_diag *d)
{
	msd_counts_error(&a->edge->counts, d->code);
	msd_http_exchange_fail(a, status, d);
}

static void reply_error(struct msd_client *client, uint64_t id,
			const struct msd_diag *why)
{
	struct msd_http_session *c = caller_of(client);
	struct msd_diag d = {0};

	(void)id;
	(void)msd_diag_set(&d, why->code, "%s", msd_diag_text(why));
	d.retry_after_ms = why->retry_after_ms;
	msd_infer_fail(&c->asking, msd_http_exchange_status(d.code), &d);
	answered(c);
}

/* The reply to a request that is not a call: an HTTP client needs only the status. */
static void reply(struct msd_client *client, uint64_t id, const struct msd_buf *result)
{
	struct msd_http_session *c = caller_of(client);

	(void)id;
	(void)result;
	msd_http_exchange_say_json(&c->asking, 200);
	answered(c);
}

static void let_go(struct msd_http_session *c, struct msd_out *o, bool sent)
{
	if (o == NULL)
		return;
	if (o->written != NULL) {
		o->written->tell(o->written,
				 msd_wire_now_ns(c->asking.edge->wire) - o->since_ns, 1,
				 sent);
	}
	if (o->on_done != NULL)
		o->on_done(o->ctx, sent);
	msd_out_destroy(o);
}

static struct msd_infer_wish wish_of(const struct msd_infer *i)
{
	return (struct msd_infer_wish){
		.ask = &i->ask,
		.call = &i->call,
		.model = {i->model.p, i->model.n},
		.max_json = i->caller->asking.edge->limits->max_json};
}

static void write_answer(struct msd_work *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);
	const struct msd_infer_wish wish = wish_of(i);

	i->err = msd_infer_result(&wish, i->out, &i->answer, &i->why);
}

/* A large text becomes the first part of the tail; a small text is copied after the
 * head. */
static msd_err take_text(struct msd_http_session *c, struct msd_infer_answer *w,
			 struct msd_diag *d)
{
	struct msd_http_reply *reply = &c->asking.reply;

	if (w->text.n < COPY_AT_ONCE) {
		c->asking.body = w->text;
	} else {
		if (!msd_grow(&w->tail, w->n_tail, sizeof(*w->tail)))
			return msd_diag_no_memory(d);
		memmove(w->tail + 1, w->tail, w->n_tail * sizeof(*w->tail));
		w->tail[0] = (struct iovec){w->text.p, w->text.n};
		w->n_tail++;
		w->tail_bytes += w->text.n;
		reply->json_bytes = w->text.n;
		c->text = w->text;
	}
	w->text = (struct msd_buf){0};
	c->tail = w->tail;
	c->n_tail = w->n_tail;
	reply->behind_bytes = w->tail_bytes;
	reply->has_tensors = w->has_tensors;
	w->tail = NULL;
	return MSD_OK;
}

/* Finish the reply, or its error. Returns the error code that the client gets. */
static msd_err settle(struct msd_http_session *c)
{
	struct msd_infer *i = c->infer;

	msd_http_exchange_say_json(&c->asking, 200);
	if (i->err == MSD_OK)
		i->err = take_text(c, &i->answer, &i->why);
	if (i->err != MSD_OK) {
		msd_http_exchange_fail(&c->asking, msd_http_exchange_status(i->err),
				       &i->why);
	}
	msd_infer_answer_finish(&i->answer);
	return i->err;
}

static void send_answer(struct msd_http_session *c)
{
	struct msd_infer *i = c->infer;

	if (c->n_tail > 0) {
		c->held = i->out;
	} else {
		let_go(c, i->out, true);
	}
	i->out = NULL;
	answered(c);
}

/* Count the call with the result that its client gets. */
static void count_late(struct msd_infer *i, unsigned code)
{
	msd_call_accounting_tell(i->put_off, code);
	i->put_off = NULL;
}

static void on_written(struct msd_work *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);
	struct msd_http_session *c = i->caller;
	const msd_err err = settle(c);

	if (err != MSD_OK)
		msd_counts_error(&c->asking.edge->counts, err);
	count_late(i, c->session.conn->is_closing ? MSD_REQ_UNANSWERED : (unsigned)err);
	send_answer(c);
}

/* The call may have succeeded in the worker while its reply to the client fails. */
static void tell(struct msd_http_session *c, struct msd_req *r)
{
	const msd_err err = settle(c);

	if (err != MSD_OK && r->client.code == MSD_OK) {
		msd_counts_error(&c->asking.edge->counts, err);
		r->client.code = (uint8_t)err;
	}
	send_answer(c);
}

static bool is_large(const struct msd_infer *i)
{
	const struct msd_infer_wish wish = wish_of(i);

	return msd_infer_result_is_large(&wish, i->out);
}

static void forward(struct msd_client *client, struct msd_req *r, struct msd_out *o)
{
	struct msd_http_session *c = caller_of(client);
	struct msd_infer *i = c->infer;

	o->since_ns = msd_wire_now_ns(c->asking.edge->wire);
	i->out = o;
	if (!is_large(i)) {
		write_answer(&i->chore);
		tell(c, r);
	} else {
		i->chore.run = write_answer;
		i->chore.done = on_written;
		i->put_off = msd_call_accounting_put_off(r, &r->module->group);
		msd_work_begin(c->asking.edge->loop, &i->chore);
	}
}

/* Usually its answer has ended the wait already; otherwise the request is being
 * aborted. */
static void on_done(struct msd_client *client, const struct msd_req *r)
{
	struct msd_http_session *c = caller_of(client);

	if (r == c->session.receiving)
		msd_infer_stop_waiting(c);
}

const struct msd_client_ops msd_infer_client_ops = {.reply = reply,
						    .reply_error = reply_error,
						    .forward = forward,
						    .on_done = on_done};

static void drop_tail(struct msd_http_session *c)
{
	free(c->tail);
	c->tail = NULL;
	c->n_tail = 0;
	msd_buf_finish(&c->text);
}

void msd_infer_end(struct msd_http_session *c, bool sent)
{
	struct msd_infer *i = c->infer;

	let_go(c, c->held, sent);
	c->held = NULL;
	drop_tail(c);
	if (i == NULL)
		return;
	let_go(c, i->out, sent);
	i->out = NULL;
	count_late(i, MSD_REQ_UNANSWERED);
	msd_task_cancel(&i->putting);
	msd_infer_answer_finish(&i->answer);
	msd_diag_finish(&i->why);
	c->infer = NULL;
	msd_infer_ask_finish(&i->ask);
	msd_infer_call_finish(&i->call);
	msd_buf_finish(&i->model);
	free(i);
}
