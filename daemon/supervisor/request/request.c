#include "daemon/supervisor/request/request.h"

#include <stdlib.h>

#include "daemon/loop/free_list.h"
#include "daemon/supervisor/request/call_template.h"
#include "daemon/supervisor/request/client_segment.h"

/*
 * Happy path: a new request is QUEUED; its owner sends it to a worker; the response
 * is received and forwarded; the same event frees it. Failures: a deadline answers it
 * on time, queued or sent. A sent request is kept until the worker responds or is
 * terminated. Cancel and a disconnect free a queued request, and notify the worker of
 * a sent one.
 */

static struct msd_free_list spare;

static struct msd_req *create(void)
{
	struct msd_list *it = msd_free_list_pop(&spare);

	if (it == NULL)
		return calloc(1, sizeof(struct msd_req));
	struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
	*r = (struct msd_req){0};
	return r;
}

static void destroy(struct msd_req *r)
{
	if (msd_free_list_has_room(&spare)) {
		msd_free_list_push(&spare, &r->link);
	} else {
		free(r);
	}
}

void msd_client_init(struct msd_client *c, const struct msd_client_ops *ops)
{
	*c = (struct msd_client){.ops = ops};
	msd_list_init(&c->requests);
	msd_list_init(&c->client_queues);
	msd_list_init(&c->directs);
}

msd_err msd_client_may_wait(const struct msd_client *c, enum msd_method method,
			    const struct msd_module *m, uint32_t most,
			    struct msd_diag *d)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &c->requests) {
		const struct msd_req *r =
			MSD_CONTAINER_OF(it, struct msd_req, client.link);
		n += r->method == method && r->module == m;
	}
	return n < most ? MSD_OK
			: msd_diag_set(d, MSD_BUSY,
				       "this connection waits %u times for the same "
				       "already, the maximum",
				       n);
}

static void on_due(struct msd_deadline *node)
{
	struct msd_req *r = MSD_CONTAINER_OF(node, struct msd_req, due.node);

	if (r->due.is_for_ready && !r->ops->has_waited(r))
		return;
	msd_req_apply(r, MSD_REQ_DUE);
}

struct msd_req *msd_req_new(struct msd_client *c, uint64_t id, enum msd_method method)
{
	struct msd_req *r = create();

	if (r == NULL)
		return NULL;
	r->method = method;
	r->due.node.on_due = on_due;
	r->client.id = id;
	r->client.who = c;
	msd_list_init(&r->link);
	msd_list_init(&r->client.link);
	msd_list_init(&r->at.wid_link);
	if (c != NULL) {
		msd_list_append(&c->requests, &r->client.link);
		c->n_in_flight++;
		if (c->n_together != NULL)
			++*c->n_together;
	}
	return r;
}

struct msd_req *msd_req_new_waiting(struct msd_client *c, uint64_t id,
				    enum msd_method method)
{
	struct msd_req *r = msd_req_new(c, id, method);

	if (r != NULL)
		msd_req_hold(r, sizeof(*r));
	return r;
}

void msd_req_hold(struct msd_req *r, uint64_t bytes)
{
	r->client.held_bytes += bytes;
	msd_account_charge(&r->client.who->account, bytes);
}

msd_err msd_req_reserve(struct msd_req *r, struct msd_budget *budget,
			struct msd_segpool *pool, uint64_t payload_bytes,
			struct msd_diag *d)
{
	const bool had_room = r->placement.budget != NULL;
	const msd_err err =
		msd_placement_reserve(&r->placement, budget, pool, payload_bytes, d);

	if (!had_room && r->placement.budget != NULL && r->client.who != NULL)
		r->client.who->tensor_bytes += r->placement.wanted_bytes;
	return err;
}

/* Update the client's total: @was_bytes is the old claim of @r. */
static void recount(const struct msd_req *r, uint64_t was_bytes)
{
	if (r->client.who == NULL)
		return;
	r->client.who->tensor_bytes -= was_bytes;
	r->client.who->tensor_bytes += r->placement.wanted_bytes;
}

void msd_req_reduce(struct msd_req *r, uint64_t keep_bytes)
{
	const uint64_t was = r->placement.wanted_bytes;

	msd_placement_reduce(&r->placement, keep_bytes);
	recount(r, was);
}

msd_err msd_req_restore(struct msd_req *r, uint64_t payload_bytes, uint64_t came_bytes,
			bool stays, struct msd_diag *d)
{
	const uint64_t was = r->placement.wanted_bytes;
	const msd_err err = msd_placement_restore(&r->placement, payload_bytes,
						  came_bytes, stays, d);

	recount(r, was);
	return err;
}

void msd_req_set_due(struct msd_req *r, struct msd_deadlines *all, uint64_t in_ms)
{
	r->due.all = all;
	msd_deadline_set(all, &r->due.node, in_ms);
}

void msd_req_set_due_from(struct msd_req *r, struct msd_deadlines *all,
			  uint64_t from_ms, uint64_t in_ms)
{
	const uint64_t past_ms = uv_now(all->loop) - from_ms;

	msd_req_set_due(r, all, in_ms > past_ms ? in_ms - past_ms : 0);
}

void msd_req_leave_client(struct msd_req *r)
{
	struct msd_client *c = r->client.who;

	if (c == NULL)
		return;
	if (r->ops != NULL)
		r->ops->on_answered(r);
	msd_call_template_leave(r);
	r->client.who = NULL;
	msd_list_remove(&r->client.link);
	c->n_in_flight--;
	if (r->placement.budget != NULL)
		c->tensor_bytes -= r->placement.wanted_bytes;
	if (c->n_together != NULL)
		--*c->n_together;
	msd_account_release(&c->account, r->client.held_bytes);
	c->ops->on_done(c, r);
}

/* Its worker may still crash because of it. */
static void remember_client(struct msd_req *r)
{
	if (r->client.who != NULL)
		r->client.peer = r->client.who->peer;
}

bool msd_client_leave_one(struct msd_client *c)
{
	struct msd_list *it = msd_list_first(&c->requests);

	if (it == NULL)
		return false;
	struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, client.link);
	r->client.code = MSD_REQ_UNANSWERED;
	remember_client(r);
	msd_req_leave_client(r);
	msd_req_abandon(r, MSD_REQ_ORPHANED);
	return true;
}

void msd_client_leave(struct msd_client *c)
{
	while (msd_client_leave_one(c))
		continue;
}

void msd_req_abandon(struct msd_req *r, enum msd_req_event e)
{
	msd_req_apply(r, r->due.is_at_leave && r->state == MSD_REQ_SENT
				 ? MSD_REQ_FORSAKEN
				 : e);
}

static void req_free(struct msd_req *r)
{
	msd_req_leave_client(r);
	msd_list_remove(&r->link);
	msd_list_remove(&r->at.wid_link);
	if (r->due.all != NULL)
		msd_deadline_clear(r->due.all, &r->due.node);
	msd_placement_end(&r->placement);
	msd_segment_lookup_end(&r->lending);
	if (r->ops != NULL)
		r->ops->on_freed(r);
	msd_buf_finish(&r->job.params);
	msd_buf_finish(&r->job.passed);
	destroy(r);
}

/* For all other events the caller has already answered. */
static bool is_ours_to_answer(enum msd_req_event e)
{
	return e == MSD_REQ_CANCELLED || e == MSD_REQ_FORSAKEN || e == MSD_REQ_DUE;
}

void msd_req_answer_failure(struct msd_req *r, const struct msd_diag *why)
{
	struct msd_client *c = r->client.who;

	if (c == NULL)
		return;
	c->ops->reply_error(c, r->client.id, why);
	r->client.code = (uint8_t)why->code;
	msd_req_leave_client(r);
}

static void answer_for(struct msd_req *r, enum msd_req_event e)
{
	struct msd_diag d = {0};

	remember_client(r);
	if (e == MSD_REQ_CANCELLED) {
		(void)msd_diag_set(&d, MSD_CANCELLED, "cancelled before it started");
	} else if (e == MSD_REQ_FORSAKEN) {
		(void)msd_diag_set(&d, MSD_CANCELLED,
				   "cancelled; if it runs, its worker is killed unless "
				   "it finishes soon");
	} else {
		r->ops->explain_due(r, &d);
	}
	msd_req_answer_failure(r, &d);
	msd_diag_finish(&d);
}

static void tell_owner(struct msd_req *r, unsigned actions)
{
	if ((actions & MSD_REQ_CANCEL) != 0)
		r->ops->cancel(r);
	if ((actions & MSD_REQ_UNAWAITED) != 0)
		r->ops->on_unawaited(r);
}

void msd_req_act(struct msd_req *r, enum msd_req_event e, unsigned actions)
{
	if ((actions & MSD_REQ_ANSWER) != 0 && is_ours_to_answer(e))
		answer_for(r, e);
	if ((actions & ~(unsigned)(MSD_REQ_ANSWER | MSD_REQ_RELEASE)) != 0)
		tell_owner(r, actions);
	if ((actions & MSD_REQ_RELEASE) != 0)
		req_free(r);
}

void msd_req_answer_error(struct msd_req *r, msd_err err, const char *text)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, err, "%s", text);
	msd_req_answer_failure(r, &d);
	msd_diag_finish(&d);
}

void msd_req_answer(struct msd_req *r, const struct msd_buf *result)
{
	struct msd_client *c = r->client.who;

	if (c == NULL)
		return;
	c->ops->reply(c, r->client.id, result);
	msd_req_leave_client(r);
}

void msd_req_answer_nil(struct msd_req *r)
{
	struct msd_buf nil = {0};

	msd_pack_nil(&nil);
	msd_req_answer(r, &nil);
	msd_buf_finish(&nil);
}

void msd_req_refuse(struct msd_req *r, msd_err err, const char *text)
{
	msd_req_answer_error(r, err, text);
	msd_req_release(r);
}

void msd_req_refuse_for(struct msd_req *r, const struct msd_diag *why)
{
	msd_req_answer_failure(r, why);
	msd_req_release(r);
}

bool msd_req_lost_right(struct msd_req *r)
{
	struct msd_client *c = r->client.who;
	struct msd_diag d = {0};

	if (c == NULL || c->ops->may_still == NULL ||
	    c->ops->may_still(c, r, &d) == MSD_OK)
		return false;
	msd_req_refuse_for(r, &d);
	msd_diag_finish(&d);
	return true;
}
