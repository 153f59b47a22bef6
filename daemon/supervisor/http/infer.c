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
#include <string.h>

#include "daemon/http/infer_split.h"
#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/share.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/infer_state.h"
#include "daemon/supervisor/http/repository.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/module/counted.h"
#include "daemon/supervisor/module/module.h"

#define READ_AT_ONCE 16384u  /* bytes of JSON; more is read on a thread */
#define JSON_MEMORY_FACTOR 2 /* of a text, for what is made of it */
#define KNOWN_BYTES 4096u    /* of a text that is kept in case that it comes again */

static void submit(struct msd_caller *c, struct msd_req *r)
{
	const struct msd_infer *i = c->infer;

	if (i->call.payload_bytes > 0)
		msd_infer_put_inputs(&i->call, &i->ask, i->behind, r->placement.slot.p);
	c->infer->behind = (struct msd_span){0};
	msd_infer_stop_waiting(&c->session);
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

/* @in has the call's target. False: it was answered. */
static bool may_ask(struct msd_asking *a, const struct msd_in *in)
{
	struct msd_diag d = {0};
	const msd_err err =
		in == NULL && a->edge->rights.acl != NULL
			? msd_diag_no_memory(&d)
			: msd_standing_ask(&a->caller->session, in, MSD_M_CALL, &d);

	if (err != MSD_OK) {
		const bool wants_token =
			err == MSD_REFUSED && msd_bearer_is_anonymous(a);
		msd_counts_lost_call(&a->edge->counts, err);
		msd_infer_fail(a, wants_token ? 401 : msd_asking_status(err), &d);
		a->reply.wants_token = wants_token;
	}
	return err == MSD_OK;
}

/* A call of @a's model, which may be none, is answered with @err before it is a
 * request. */
static void count_refused(struct msd_asking *a, msd_err err)
{
	const struct msd_span name = a->names[0], module = msd_model_module_name(name);
	struct msd_span function = {0};
	struct msd_module *m;

	if (module.n < name.n) {
		function =
			(struct msd_span){name.p + module.n + 1, name.n - module.n - 1};
	}
	if (msd_module_require(a->edge->house, module, &m, NULL) == MSD_OK) {
		msd_counted_refused(&m->crew, function, err);
	} else {
		msd_counts_lost_call(&a->edge->counts, err);
	}
}

/* As for any call, before anything is done for it; whether the model is there or not,
 * who may not is told the same. False: it was answered. */
static bool may_call(struct msd_asking *a)
{
	struct msd_buf params = {0};
	struct msd_model m;
	const msd_err err = msd_bearer_stand(a, MSD_M_CALL);

	if (err != MSD_OK) {
		msd_counts_lost_call(&a->edge->counts, err);
		msd_counts_error(&a->edge->counts, err);
		return false;
	}
	if (a->edge->rights.acl == NULL) /* no name matters */
		return may_ask(a, NULL);
	const bool is_found =
		msd_model_find(a->edge->house, a->names[0], &m, NULL) == MSD_OK;
	msd_infer_put_target(&params, a->names[0], is_found ? &m : NULL);
	const struct msd_in in = {
		.body = {.kind = MSD_REQUEST, .params = {params.p, params.n}}};
	const bool may = may_ask(a, params.bad ? NULL : &in);
	msd_buf_finish(&params);
	return may;
}

/* Its user may ask for so much in a second. */
static bool may_spend(struct msd_asking *a, const struct msd_infer *i)
{
	struct msd_diag d = {0};

	if (msd_standing_spend(&a->caller->session, &i->in, MSD_M_CALL, &d) == MSD_OK)
		return true;
	msd_counts_lost_call(&a->edge->counts, MSD_BUSY);
	msd_infer_fail(a, 429, &d);
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

static void read_text(struct msd_chore *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);

	i->err = msd_infer_ask_read(&i->ask, i->text, i->behind.n, &i->why);
}

/* A call that was made once is kept with its text. */
static void keep_text(const struct msd_asking *a, struct msd_infer *i)
{
	i->generation = a->edge->house->generation;
	if (i->text.n <= KNOWN_BYTES)
		msd_buf_put(&i->known, i->text.p, i->text.n);
}

/* False: it was answered, and counted. */
static bool find_model(struct msd_asking *a, struct msd_model *ret)
{
	struct msd_diag d = {0};
	msd_err err = msd_repository_find(a, ret);

	if (err == MSD_OK && msd_repository_refuse_unknown(a, ret))
		err = MSD_NOT_READY;
	if (err != MSD_OK) {
		count_refused(a, err);
		msd_counts_error(&a->edge->counts, err);
		return false;
	}
	if (ret->function.n > 0)
		return true;
	count_refused(a, MSD_NOT_FOUND);
	(void)msd_diag_set(&d, MSD_NOT_FOUND,
			   "%s has no function that is its model: ask for %s:FUNCTION",
			   ret->module->crew.name, ret->module->crew.name);
	msd_infer_fail(a, 404, &d);
	return false;
}

/* The text of the call of @c is read. It is sent, it waits for room, or it is answered.
 * A call that was made before needs no @m. */
static void proceed(struct msd_caller *c, const struct msd_model *m)
{
	struct msd_asking *a = &c->asking;
	struct msd_infer *i = c->infer;
	struct msd_diag d = i->why;
	msd_err err = i->err;

	i->why = (struct msd_diag){0};
	c->is_starting = true;
	if (err == MSD_OK && i->known.n == 0) {
		err = msd_infer_make(m, &i->ask, a->edge->limits, &i->call, &d);
		if (err == MSD_OK)
			keep_text(a, i);
	}
	if (err != MSD_OK && m != NULL)
		msd_counted_refused(&m->module->crew, msd_model_function_name(m), err);
	i->in = msd_infer_in(&i->call, c->session.number, uv_now(a->edge->loop));
	if (c->session.has_plans) {
		i->in.known =
			msd_memory_find(&c->session.calls,
					(struct msd_span){i->in.bytes, i->in.n_bytes},
					i->in.payload_bytes);
	}
	if (err == MSD_OK && may_spend(a, i))
		err = start(c, &d);
	if (err != MSD_OK)
		msd_infer_fail(a, msd_asking_status(err), &d);
	c->is_starting = false;
}

/* Its module may be another by now, or none. */
static void on_read(struct msd_chore *chore)
{
	struct msd_infer *i = MSD_CONTAINER_OF(chore, struct msd_infer, chore);
	struct msd_caller *c = i->caller;
	struct msd_asking *a = &c->asking;
	struct msd_model m;

	a->is_later = false;
	a->names[0] = (struct msd_span){i->model.p, i->model.n};
	a->names[1] = (struct msd_span){0}; /* it was looked at */
	if (!c->is_gone && find_model(a, &m))
		proceed(c, &m);
	if (!a->is_later)
		c->on_answer(c);
}

static struct msd_infer *infer_new(struct msd_caller *c, struct msd_span model)
{
	struct msd_infer *i = calloc(1, sizeof(*i));

	if (i == NULL)
		return NULL;
	i->caller = c;
	i->told = (struct msd_memory){.kind = MSD_RESPONSE,
				      .account = &c->session.client.account};
	i->chore.run = read_text;
	i->chore.on_done = on_read;
	msd_buf_put(&i->model, model.p, model.n);
	return i;
}

static bool is_same(struct msd_buf kept, struct msd_span came)
{
	return kept.n == came.n && !kept.bad && memcmp(kept.p, came.p, came.n) == 0;
}

static bool is_in_its_version(const struct msd_asking *a)
{
	return a->names[1].n == 0 || msd_span_is(a->names[1], MSD_MODEL_VERSION);
}

/* The text of the last call has come again, for the same model: what was made of it is
 * the call. */
static bool has_come_again(struct msd_asking *a, struct msd_span text,
			   struct msd_span behind)
{
	struct msd_caller *c = a->caller;
	struct msd_infer *i = c->last;

	if (i == NULL || i->known.n == 0 || i->behind_bytes != behind.n ||
	    i->generation != a->edge->house->generation || !is_in_its_version(a) ||
	    !is_same(i->model, a->names[0]) || !is_same(i->known, text))
		return false;
	c->last = NULL;
	c->infer = i;
	i->text = text;
	i->behind = behind;
	return true;
}

void msd_infer(struct msd_asking *a)
{
	struct msd_caller *c = a->caller;
	struct msd_span text, behind;
	struct msd_diag d = {0};
	struct msd_model m;
	struct msd_infer *i;

	if (!may_call(a))
		return;
	const bool is_cut =
		msd_infer_split(a->request->fields[MSD_HTTP_F_INFERENCE_HEADER],
				a->request->body, &text, &behind);
	if (is_cut && has_come_again(a, text, behind)) {
		proceed(c, NULL);
		return;
	}
	if (!find_model(a, &m))
		return;
	msd_infer_forget(c);
	c->infer = i = infer_new(c, a->names[0]);
	if (i == NULL) {
		count_refused(a, MSD_NOMEM);
		(void)msd_diag_no_memory(&d);
		msd_infer_fail(a, 503, &d);
		return;
	}
	i->text = is_cut ? text : (struct msd_span){0};
	i->behind = is_cut ? behind : (struct msd_span){0};
	i->behind_bytes = i->behind.n;
	if (!is_cut) {
		i->err = msd_diag_set(&i->why, MSD_BAD_REQUEST,
				      "Inference-Header-Content-Length: expected a "
				      "number of bytes of the body, at most 1 MiB");
		proceed(c, &m);
	} else if (i->text.n > READ_AT_ONCE) {
		a->is_later = true;
		msd_chore_begin(c->chores, &i->chore);
	} else {
		read_text(&i->chore);
		proceed(c, &m);
	}
}

bool msd_infer_is_busy(const struct msd_caller *c)
{
	return c->infer != NULL && c->infer->chore.is_busy;
}

static size_t bytes_of(const struct msd_infer *i)
{
	return i == NULL
		       ? 0
		       : sizeof(*i) + msd_infer_ask_bytes(&i->ask) + i->call.body.cap +
				 i->call.out_names.cap + i->known.cap +
				 i->call.n_places * sizeof(*i->call.places);
}

/* What a thread works with is not looked at. */
size_t msd_infer_bytes(const struct msd_caller *c)
{
	const struct msd_infer *i = c->infer;

	if (i != NULL && i->chore.is_busy)
		return sizeof(*i) + JSON_MEMORY_FACTOR * i->text.n;
	return c->asking.body.cap + bytes_of(i) + bytes_of(c->last);
}

bool msd_infer_needs_body(const struct msd_caller *c)
{
	return c->infer != NULL && (c->infer->chore.is_busy || c->infer->behind.n > 0);
}

/* A thread reads none that may be moved. */
_Static_assert(MSD_HTTP_LENT_BODY <= READ_AT_ONCE, "its JSON is read at once");

void msd_infer_move_body(struct msd_caller *c, const uint8_t *from, const uint8_t *to)
{
	struct msd_infer *i = c->infer;

	i->text = (struct msd_span){0}; /* it was read */
	if (i->behind.n > 0)
		i->behind.p = to + (i->behind.p - from);
}
