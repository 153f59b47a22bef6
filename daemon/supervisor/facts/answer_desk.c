/*
 * Happy path: if no request waits, a new request gets its first chunk at once, which
 * is the whole answer if there are few modules. Otherwise it waits; a task writes one
 * chunk per step for the request whose turn it is. A text begins with its msgpack
 * header. Failures: a request whose client is gone or whose deadline has passed is in
 * no list, and its answer is dropped. If memory is short, the client gets an error.
 */
#include "daemon/supervisor/facts/answer_desk.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"

#define STR32 0xdbu   /* msgpack str with a four-byte length */
#define HEAD_BYTES 5u /* size of that header: the text is not copied again */

static void explain_due(const struct msd_req *r, struct msd_diag *d)
{
	(void)msd_diag_set(d, MSD_DEADLINE, "the deadline passed before the %s written",
			   r->method == MSD_M_MODULE_LIST ? "list was"
							  : "metrics were");
}

static void ignore(struct msd_req *r)
{
	(void)r; /* it is already removed from its list */
}

/* No worker has the request, so the other callbacks are never called. */
static const struct msd_req_ops req_ops = {
	.explain_due = explain_due, .on_answered = ignore, .on_freed = ignore};

static bool sees(void *session, const char *module)
{
	return msd_authorization_sees(session, module);
}

static void begin(struct msd_answer_desk *k)
{
	k->metrics = (struct msd_metrics_at){.before_bytes = HEAD_BYTES};
	k->list = (struct msd_method_list_at){0};
}

/* Returns true if the text is complete. */
static bool write_metrics(struct msd_answer_desk *k, struct msd_session *s)
{
	const struct msd_view view = {.sees = sees, .who = s};

	if (!k->metrics.has_begun) {
		msd_buf_put_u8(&k->text, STR32);
		msd_buf_put_u32(&k->text, 0);
	}
	if (!msd_metrics_go_on(k->edge, &view, &k->metrics, &k->text, false))
		return false;
	if (!k->text.bad) {
		const uint32_t n = (uint32_t)(k->text.n - HEAD_BYTES);
		for (unsigned i = 1; i < HEAD_BYTES; i++)
			k->text.p[i] = (uint8_t)(n >> 8 * (HEAD_BYTES - 1 - i));
	}
	return true;
}

/* Returns true if the answer is complete, or memory is short. */
static bool go_on(struct msd_answer_desk *k, enum msd_method method,
		  struct msd_session *s)
{
	return (method == MSD_M_MODULE_LIST
			? msd_method_list_go_on(s, &k->list, &k->text)
			: write_metrics(k, s)) ||
	       k->text.bad;
}

/* The request whose answer is being written; otherwise the next one. */
static struct msd_req *current(struct msd_answer_desk *k)
{
	struct msd_list *it = msd_list_first(&k->told);

	if (it == NULL) {
		msd_buf_finish(&k->text);
		it = msd_fair_list_pop(&k->waiting);
		if (it == NULL)
			return NULL;
		msd_list_append(&k->told, it);
		begin(k);
	}
	return MSD_CONTAINER_OF(it, struct msd_req, link);
}

static enum msd_task_result write_next(struct msd_task *t)
{
	struct msd_answer_desk *k = MSD_CONTAINER_OF(t, struct msd_answer_desk, next);
	struct msd_req *r = current(k);

	if (r == NULL)
		return MSD_TASK_DONE;
	if (!go_on(k, r->method, msd_session_of(r)))
		return MSD_TASK_AGAIN;
	if (k->text.bad) {
		msd_req_refuse(r, MSD_NOMEM, "out of memory for the answer");
	} else {
		msd_req_answer(r, &k->text);
		msd_req_release(r);
	}
	return MSD_TASK_AGAIN;
}

/* Queue it; @is_begun: the text is its first chunk. */
static msd_err wait(struct msd_answer_desk *k, struct msd_method_call *c, bool is_begun,
		    struct msd_diag *d)
{
	struct msd_req *r = msd_method_later(c);

	if (r == NULL)
		return msd_diag_no_memory(d);
	r->ops = &req_ops;
	r->client.peer = c->session->client.peer;
	if (is_begun) {
		msd_list_append(&k->told, &r->link);
	} else {
		msd_fair_list_append(&k->waiting, &r->link,
				     msd_peer_id_passer(r->client.peer));
	}
	msd_task_begin(k->edge->deadlines->tasks, &k->next);
	return MSD_OK;
}

msd_err msd_answer_desk_ask(struct msd_answer_desk *k, struct msd_method_call *c,
			    struct msd_diag *d)
{
	if (msd_task_is_queued(&k->next))
		return wait(k, c, false, d);
	begin(k);
	if (!go_on(k, c->method, c->session))
		return wait(k, c, true, d);
	msd_buf_finish(&c->result);
	c->result = k->text;
	k->text = (struct msd_buf){0};
	return MSD_OK;
}

void msd_answer_desk_init(struct msd_answer_desk *k, struct msd_edge *e)
{
	*k = (struct msd_answer_desk){
		.edge = e, .next = {.step = write_next, .class = MSD_TASK_ANSWER}};
	msd_fair_list_init(&k->waiting);
	msd_list_init(&k->told);
}

void msd_answer_desk_finish(struct msd_answer_desk *k)
{
	msd_buf_finish(&k->text);
}
