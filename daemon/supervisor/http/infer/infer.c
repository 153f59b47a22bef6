/*
 * Happy path: the client and the model are looked up, and the JSON becomes a call.
 * The call is authorized and placed like a call in a frame, its bytes are read into
 * its slot, and it is submitted. The reply arrives through msd_client_ops, and the
 * HTTP connection writes it.
 *
 * Failures: errors are answered before resources are claimed, and bytes that are
 * still arriving are dropped. Without room, the call waits, and its connection with
 * it. A disconnect cancels the call, as everywhere.
 */
#include "daemon/supervisor/http/infer/infer.h"

#include <stdlib.h>

#include "daemon/http/infer_json.h"
#include "daemon/http/infer_quick.h"
#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/call.h"
#include "daemon/supervisor/edge/session/receiving.h"
#include "daemon/supervisor/http/infer/infer_inputs.h"
#include "daemon/supervisor/http/infer/infer_rights.h"
#include "daemon/supervisor/http/infer/infer_state.h"
#include "daemon/supervisor/http/models/repository.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/module/workers/signature.h"

#define READ_AT_ONCE 16384u  /* bytes of JSON; a thread parses more */
#define JSON_MEMORY_FACTOR 2 /* memory of the parsed form, per byte of text */

/* Copy a part of the inputs that have arrived to the slot. Returns true if all of
 * these are copied. */
static bool put_part(struct msd_http_session *c)
{
	struct msd_infer *i = c->infer;

	return i->call.payload_bytes == 0 ||
	       msd_infer_put_inputs(&i->call, &i->ask, i->behind,
				    c->session.receiving->placement.slot.p, &i->put);
}

/* They are copied. Returns true if no more have to arrive. */
static bool await_rest(struct msd_http_session *c)
{
	struct msd_infer *i = c->infer;

	i->is_taking = i->behind.p == NULL && i->behind_bytes > 0;
	i->behind = (struct msd_span){0};
	if (i->is_taking) {
		c->inputs = msd_infer_await_inputs(
			&i->call, c->session.receiving->placement.slot.p);
	}
	return !i->is_taking;
}

static enum msd_task_result put_next(struct msd_task *t)
{
	struct msd_infer *i = MSD_CONTAINER_OF(t, struct msd_infer, putting);
	struct msd_http_session *c = i->caller;

	if (c->session.conn->is_closing)
		return MSD_TASK_DONE;
	c->session.pace.since_ms = 0; /* its client is not slow */
	if (!put_part(c))
		return MSD_TASK_AGAIN;
	if (await_rest(c))
		msd_infer_accept(c);
	if (c->asking.is_later) {
		c->on_room(c);
	} else {
		c->on_answer(c);
	}
	return MSD_TASK_DONE;
}

/* Copy the inputs that have arrived to the slot, many bytes in steps. Returns true if
 * all are there. */
static bool place(struct msd_http_session *c)
{
	struct msd_infer *i = c->infer;

	i->put = (struct msd_infer_put){0};
	if (put_part(c))
		return await_rest(c);
	i->putting =
		(struct msd_task){.step = put_next,
				  .class = MSD_TASK_ANSWER,
				  .peer = msd_peer_id_passer(c->session.client.peer)};
	msd_task_begin(c->asking.edge->deadlines->tasks, &i->putting);
	return false;
}

/* It has all its room again, perhaps at another address than @was. */
static bool regain(struct msd_http_session *c, const uint8_t *was)
{
	uint8_t *payload = c->session.receiving->placement.slot.p;

	for (uint32_t i = 0; i < c->inputs.n; i++) {
		struct iovec *piece = &c->inputs.pieces[i];
		piece->iov_base = payload + ((const uint8_t *)piece->iov_base - was);
	}
	c->infer->is_taking = c->inputs.n > 0;
	return !c->infer->is_taking;
}

static struct msd_http_session *caller_of(struct msd_session *s)
{
	return MSD_CONTAINER_OF(s, struct msd_http_session, session);
}

bool msd_infer_fill(struct msd_session *s, const uint8_t *was)
{
	return was != NULL ? regain(caller_of(s), was) : place(caller_of(s));
}

void msd_infer_on_resumed(struct msd_session *s)
{
	struct msd_http_session *c = caller_of(s);

	if (msd_infer_is_taking(c))
		c->on_room(c);
}

/* The call is sent, or waits for room; on an error the caller answers it. */
static msd_err start(struct msd_http_session *c, const struct msd_model *m,
		     struct msd_diag *d)
{
	struct msd_session *s = &c->session;
	struct msd_infer *i = c->infer;
	struct msd_call_made made = {.id = s->number,
				     .module = m->module,
				     .function = m->function->name,
				     .params = &i->call.params,
				     .payload_bytes = i->call.payload_bytes,
				     .out_bytes = i->call.out_bytes,
				     .has_deadline = i->ask.has_deadline,
				     .deadline_ms = i->ask.deadline_ms};
	struct msd_req *r = NULL;
	msd_err err = msd_call_prepare_made(s, &made, &r, d);

	c->asking.is_later = true; /* unless it is answered at once */
	if (err == MSD_OK)
		err = msd_receiving_begin(s, r, i->call.payload_bytes, d);
	if (err != MSD_OK) {
		c->asking.is_later = false;
	} else if (s->call == MSD_CALL_RESERVED && place(c)) {
		(void)msd_receiving_whole(s); /* its room was reserved just now */
	} else if (s->call == MSD_CALL_RESERVED) {
		msd_receiving_part(s);
	}
	return err;
}

static void read_text(struct msd_work *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);

	i->err = msd_infer_read(&i->ask, i->text, i->behind_bytes, &i->why);
}

/* Returns false if it was answered with an error, and counted. */
static bool find_model(struct msd_http_exchange *a, struct msd_model *ret)
{
	struct msd_diag d = {0};
	msd_err err = msd_repository_find(a, ret);

	if (err == MSD_OK && msd_repository_refuse_unknown(a, ret))
		err = MSD_NOT_READY;
	if (err != MSD_OK) {
		msd_infer_count_refused(a, err);
		msd_counts_error(&a->edge->counts, err);
		return false;
	}
	if (ret->function != NULL)
		return true;
	msd_infer_count_refused(a, MSD_NOT_FOUND);
	(void)msd_diag_set(&d, MSD_NOT_FOUND,
			   "%s has no default function: use %s:FUNCTION",
			   ret->module->group.name, ret->module->group.name);
	msd_infer_fail(a, 404, &d);
	return false;
}

/* The text of the call of @c is parsed: the call of @m is sent, waits for room, or is
 * answered. */
static void proceed(struct msd_http_session *c, const struct msd_model *m)
{
	struct msd_http_exchange *a = &c->asking;
	struct msd_infer *i = c->infer;
	struct msd_diag d = i->why;
	msd_err err = i->err;

	i->why = (struct msd_diag){0};
	c->is_starting = true;
	if (err == MSD_OK) {
		err = msd_infer_make(m, &i->ask, a->edge->limits, &c->session.inlines,
				     &i->call, &d);
	}
	if (err != MSD_OK) {
		msd_call_accounting_refused(&m->module->group, m->function->name,
					    &c->session.client, err);
	}
	if (err == MSD_OK && msd_infer_rights_spend(a, i))
		err = start(c, m, &d);
	if (err != MSD_OK)
		msd_infer_fail(a, msd_http_exchange_status(err), &d);
	c->is_starting = false;
}

/* The rights file may have changed. Returns false if it was answered with an error. */
static bool may_still(struct msd_http_exchange *a, const struct msd_infer *i)
{
	return i->rights_generation == a->edge->rights.generation ||
	       msd_infer_rights_call(a);
}

/* Its module may have been replaced or removed. */
static void on_read(struct msd_work *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);
	struct msd_http_session *c = i->caller;
	struct msd_http_exchange *a = &c->asking;
	struct msd_model m;

	a->is_later = false;
	a->names[0] = (struct msd_span){i->model.p, i->model.n};
	a->names[1] = (struct msd_span){0}; /* the version was checked */
	if (!c->session.conn->is_closing && may_still(a, i) && find_model(a, &m))
		proceed(c, &m);
	if (!a->is_later) {
		c->on_answer(c);
	} else if (msd_infer_is_taking(c)) {
		c->on_room(c);
	}
}

static struct msd_infer *infer_new(struct msd_http_session *c, struct msd_span model)
{
	struct msd_infer *i = calloc(1, sizeof(*i));

	if (i == NULL)
		return NULL;
	i->caller = c;
	i->chore =
		(struct msd_work){.run = read_text,
				  .done = on_read,
				  .lane = c->json,
				  .owner = msd_peer_id_passer(c->session.client.peer)};
	msd_buf_put(&i->model, model.p, model.n);
	return i;
}

/* The body of an infer. */
struct cut {
	struct msd_span text, behind; /* p NULL: still arriving */
	uint64_t behind_bytes;
};

static bool cut_body(const struct msd_http_request *q, uint64_t max_json,
		     struct cut *ret)
{
	*ret = (struct cut){.text = q->body};
	if (q->has_part) {
		ret->behind_bytes = q->body_bytes - q->body.n;
		return true;
	}
	if (!msd_infer_split(q->fields[MSD_HTTP_F_INFERENCE_HEADER], q->body, max_json,
			     &ret->text, &ret->behind))
		return false;
	ret->behind_bytes = ret->behind.n;
	return true;
}

void msd_infer(struct msd_http_exchange *a)
{
	struct msd_http_session *c = a->caller;
	struct msd_diag d = {0};
	struct msd_model m;
	struct msd_infer *i;
	struct cut cut;

	if (!msd_infer_rights_call(a))
		return;
	const uint64_t max_json = a->edge->limits->max_json;
	const bool is_cut = cut_body(a->request, max_json, &cut);
	if (!find_model(a, &m))
		return;
	c->infer = i = infer_new(c, a->names[0]);
	if (i == NULL) {
		msd_infer_count_refused(a, MSD_NOMEM);
		(void)msd_diag_no_memory(&d);
		msd_infer_fail(a, 503, &d);
		return;
	}
	if (!is_cut) {
		i->err = msd_diag_set(&i->why, MSD_BAD_REQUEST,
				      "Inference-Header-Content-Length: expected a "
				      "number of bytes of the body, at most the %llu "
				      "of --max-json",
				      (unsigned long long)max_json);
		proceed(c, &m);
		return;
	}
	i->text = cut.text;
	i->behind = cut.behind;
	i->behind_bytes = cut.behind_bytes;
	if (i->text.n > READ_AT_ONCE) {
		a->is_later = true;
		i->rights_generation = a->edge->rights.generation;
		msd_work_begin(c->asking.edge->loop, &i->chore);
	} else {
		read_text(&i->chore);
		proceed(c, &m);
	}
}

bool msd_infer_is_taking(const struct msd_http_session *c)
{
	return c->infer != NULL && c->infer->is_taking;
}

void msd_infer_wait(struct msd_http_session *c)
{
	c->infer->is_taking = false;
	msd_receiving_full(&c->session);
}

void msd_infer_accept(struct msd_http_session *c)
{
	c->infer->is_taking = false;
	c->is_starting = true;
	if (!msd_receiving_whole(&c->session))
		c->asking.is_later = true; /* its outputs need room again */
	c->is_starting = false;
}

bool msd_infer_is_busy(const struct msd_http_session *c)
{
	return c->infer != NULL && c->infer->chore.is_begun;
}

static size_t bytes_of(const struct msd_infer *i)
{
	return i == NULL ? 0
			 : sizeof(*i) + msd_infer_ask_bytes(&i->ask) +
				   i->call.params.cap + i->call.out_names.cap +
				   i->call.n_places * (sizeof(*i->call.places) +
						       sizeof(*i->call.pieces));
}

/* Do not look at data that a thread uses. */
size_t msd_infer_bytes(const struct msd_http_session *c)
{
	const struct msd_infer *i = c->infer;

	if (i != NULL && i->chore.is_begun)
		return sizeof(*i) + JSON_MEMORY_FACTOR * i->text.n;
	return c->asking.body.cap + bytes_of(i);
}

bool msd_infer_needs_body(const struct msd_http_session *c)
{
	return c->infer != NULL && (c->infer->chore.is_begun || c->infer->behind.n > 0);
}

/* A thread needs a body that is kept until it is dropped. A body that is only lent
 * must be parsed at once. */
_Static_assert(MSD_HTTP_LENT_BODY <= READ_AT_ONCE, "its JSON is read at once");
