/*
 * Happy path: if no request waits, a new request gets its first chunk at once, which
 * is the whole text if there are few modules. Otherwise it waits; a deadline writes
 * one chunk per loop iteration for the first request that waits. The text begins with
 * its msgpack header. Failures: a request whose client is gone or whose deadline has
 * passed is in no list, and its text is dropped. If memory is short, the client gets
 * an error.
 */
#include "daemon/supervisor/facts/metrics_desk.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/methods/method.h"

#define PAUSE_MS 1u   /* a deadline of 0 ms may be due in the same iteration */
#define STR32 0xdbu   /* msgpack str with a four-byte length */
#define HEAD_BYTES 5u /* size of that header: the text is not copied again */

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)r;
	(void)msd_diag_set(d, MSD_DEADLINE,
			   "the deadline passed before the metrics were written");
}

static void ignore(struct msd_req *r)
{
	(void)r; /* it is already removed from its list */
}

/* No worker has the request, so the other callbacks are never called. */
static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = ignore, .on_freed = ignore};

static struct msd_req *first_of(struct msd_list *l)
{
	struct msd_list *it = msd_list_first(l);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_req, link) : NULL;
}

static bool sees(void *session, const char *module)
{
	return msd_authorization_sees(session, module);
}

static void begin_text(struct msd_metrics_desk *k)
{
	k->at = (struct msd_metrics_at){.before_bytes = HEAD_BYTES};
	msd_buf_put_u8(&k->text, STR32);
	msd_buf_put_u32(&k->text, 0);
}

/* Returns true if the text is complete, or memory is short. */
static bool go_on(struct msd_metrics_desk *k, struct msd_session *s)
{
	const struct msd_view view = {.sees = sees, .who = s};

	if (!msd_metrics_go_on(k->edge, &view, &k->at, &k->text, false) && !k->text.bad)
		return false;
	if (!k->text.bad) {
		const uint32_t n = (uint32_t)(k->text.n - HEAD_BYTES);
		for (unsigned i = 1; i < HEAD_BYTES; i++)
			k->text.p[i] = (uint8_t)(n >> 8 * (HEAD_BYTES - 1 - i));
	}
	return true;
}

/* Move the other requests of @peer behind the requests of all other peers. */
static void send_back(struct msd_metrics_desk *k, struct msd_peer_id peer)
{
	struct msd_list its;
	struct msd_list *it;

	msd_list_init(&its);
	MSD_LIST_EACH_SAFE (at, &k->waiting) {
		struct msd_req *r = MSD_CONTAINER_OF(at, struct msd_req, link);
		if (msd_peer_id_is(r->client.peer, peer)) {
			msd_list_remove(at);
			msd_list_append(&its, at);
		}
	}
	while ((it = msd_list_first(&its)) != NULL) {
		msd_list_remove(it);
		msd_list_append(&k->waiting, it);
	}
}

static void on_next(struct msd_deadline *node)
{
	struct msd_metrics_desk *k =
		MSD_CONTAINER_OF(node, struct msd_metrics_desk, next);
	struct msd_req *r = first_of(&k->told);

	if (r == NULL) {
		msd_buf_finish(&k->text);
		r = first_of(&k->waiting);
		if (r == NULL)
			return;
		msd_list_remove(&r->link);
		msd_list_append(&k->told, &r->link);
		begin_text(k);
	}
	if (go_on(k, msd_session_of(r))) {
		const struct msd_peer_id peer = r->client.peer;
		if (k->text.bad) {
			msd_req_refuse(r, MSD_NOMEM, "out of memory for the metrics");
		} else {
			msd_req_answer(r, &k->text);
			msd_req_release(r);
		}
		send_back(k, peer);
	}
	msd_deadline_set(k->edge->deadlines, &k->next, PAUSE_MS);
}

/* Append it to the queue. */
static msd_err wait(struct msd_metrics_desk *k, struct msd_method_call *c,
		    struct msd_list *in, struct msd_diag *d)
{
	struct msd_req *r =
		msd_req_new_waiting(&c->session->client, c->in->body.id, c->method);

	if (r == NULL)
		return msd_diag_no_memory(d);
	r->ops = &req_ops;
	r->client.peer = c->session->client.peer;
	msd_list_append(in, &r->link);
	c->later = true;
	if (c->options.has_deadline) {
		msd_req_set_due_from(r, k->edge->deadlines, c->in->begun_ms,
				     c->options.deadline_ms);
	}
	if (!msd_deadline_is_set(&k->next))
		msd_deadline_set(k->edge->deadlines, &k->next, PAUSE_MS);
	return MSD_OK;
}

msd_err msd_metrics_desk_ask(struct msd_metrics_desk *k, struct msd_method_call *c,
			     struct msd_diag *d)
{
	if (msd_deadline_is_set(&k->next))
		return wait(k, c, &k->waiting, d);
	begin_text(k);
	if (!go_on(k, c->session))
		return wait(k, c, &k->told, d);
	msd_buf_finish(&c->result);
	c->result = k->text;
	k->text = (struct msd_buf){0};
	return MSD_OK;
}

void msd_metrics_desk_init(struct msd_metrics_desk *k, struct msd_edge *e)
{
	*k = (struct msd_metrics_desk){.edge = e, .next.on_due = on_next};
	msd_list_init(&k->waiting);
	msd_list_init(&k->told);
}

void msd_metrics_desk_finish(struct msd_metrics_desk *k)
{
	msd_buf_finish(&k->text);
}
