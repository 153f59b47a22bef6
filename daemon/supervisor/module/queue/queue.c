#include "daemon/supervisor/module/queue/queue.h"

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "daemon/supervisor/module/queue/worker_selection.h"
#include "daemon/supervisor/module/workers/reply.h"

/*
 * Happy path: put a request; its client queue waits for its turn. pump inspects the
 * workers, worker_selection.c selects one, and the first request is posted to it.
 * Failures: no worker is running or has room, and the request waits, until its deadline
 * or limits.ready_wait. An object that it names was lost with a worker, and it is
 * refused.
 */

/* True if its answer is an object in the worker that runs it. */
static bool makes_object(const struct msd_req *r)
{
	return r->method == MSD_M_TENSOR_ALLOC || r->method == MSD_M_TENSOR_COPY ||
	       r->method == MSD_M_MODULE_INSTANCE;
}

/*
 * Requests that create or name objects stay in their client's own queue, with its
 * home. Requests that need no order leave it only while it has a home: without one,
 * they go to any free worker anyway.
 */
static struct msd_client_queue *queue_for(struct msd_worker_group *group,
					  const struct msd_req *r)
{
	struct msd_client_queue *client_queue =
		msd_client_queue_get(r->client.who, group);

	if (client_queue == NULL || r->at.needs != NULL || makes_object(r))
		return client_queue;
	if (r->at.is_background) {
		return msd_client_queue_get_kind(r->client.who, group,
						 MSD_CLIENT_QUEUE_BACKGROUND);
	}
	if (!r->at.is_unordered || client_queue->home == NULL)
		return client_queue;
	return msd_client_queue_get_kind(r->client.who, group, MSD_CLIENT_QUEUE_LOOSE);
}

void msd_queue_put(struct msd_worker_group *group, struct msd_req *r)
{
	struct msd_client_queue *client_queue = queue_for(group, r);

	if (client_queue == NULL || r->job.params.bad) {
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
		return;
	}
	msd_client_queue_append(client_queue, r);
	if (group->is_serving) {
		msd_queue_pump(group);
	} else {
		msd_ready_timeout_set(r);
	}
}

/* True if the worker with the objects that it names is gone. */
static bool is_stale(const struct msd_req *r)
{
	return r->at.needs != NULL && r->at.needs->replica == NULL;
}

/* Return why @r may not create its object; NULL: it may, or it creates none. A copy
 * may go to memory of the client; only a copy to a device creates a tensor. */
static const char *one_too_many(const struct msd_client_queue *client_queue,
				const struct msd_req *r, msd_err *ret)
{
	const struct msd_limits *limits = client_queue->group->registry->limits;

	*ret = MSD_BUSY;
	if (!makes_object(r) ||
	    (r->method == MSD_M_TENSOR_COPY && !r->at.is_copy_to_device))
		return NULL;
	if (msd_client_queue_held(r) == MSD_CLIENT_OBJECT_INSTANCE) {
		return msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_INSTANCE,
					     limits->max_executors,
					     MSD_MAX_INSTANCES) > 0
			       ? NULL
			       : "the connection, or its user or address, has the "
				 "maximum of sessions in the module's worker, or its "
				 "share (--max-executors): free some, or wait";
	}
	if (msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_TENSOR,
				  limits->max_tensors, MSD_MAX_RESIDENTS) == 0) {
		return "the connection, or its user or address, has the maximum of "
		       "resident tensors in the module's worker, or its share "
		       "(--max-tensors): free some, or wait";
	}
	if (r->at.makes_bytes > limits->max_resident) {
		*ret = MSD_NO_SPACE; /* even if all other objects are freed */
		return "the tensor has more bytes than a connection may have resident "
		       "in the module's worker (--max-resident)";
	}
	return msd_client_queue_room(client_queue, MSD_CLIENT_OBJECT_BYTES,
				     limits->max_resident,
				     limits->max_memory) >= r->at.makes_bytes
		       ? NULL
		       : "the connection, or its user or address, has the maximum of "
			 "bytes of resident tensors in the module's worker, or its "
			 "share (--max-resident): free some, or wait";
}

static void send_one(struct msd_replica *rep, struct msd_client_queue *client_queue)
{
	struct msd_req *r = msd_client_queue_first(client_queue);
	msd_err why = MSD_OK;
	const char *too_many = one_too_many(client_queue, r, &why);

	if (makes_object(r) && !is_stale(r) && too_many == NULL) {
		client_queue->n_held[msd_client_queue_held(r)]++;
		client_queue->n_held[MSD_CLIENT_OBJECT_BYTES] += r->at.makes_bytes;
		r->at.holds = true;
	}
	(void)msd_client_queue_pop(client_queue);
	msd_ready_timeout_clear(r);
	if (is_stale(r)) {
		msd_req_refuse(
			r, MSD_STALE_HANDLE,
			"an object of the request was lost with the module's worker");
	} else if (too_many != NULL) {
		msd_req_refuse(r, why, too_many);
	} else if (!msd_replica_post(rep, r)) {
		if (r->at.holds) {
			msd_client_queue_release(r->client.who, rep->process,
						 msd_client_queue_held(r),
						 r->at.makes_bytes);
		}
		r->at.holds = false;
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
	}
}

/* A request sent behind a long one gains nothing, and may be lost with it. */
static bool is_held_up(const struct msd_replica *rep)
{
	return msd_replica_is_stuck(rep) ||
	       (!msd_list_is_empty(&rep->sent) &&
		uv_now(rep->group->registry->loop) - rep->head_since_ms >=
			MSD_REPLICA_LONG_MS);
}

static void look(const struct msd_worker_group *group, uint32_t i)
{
	const struct msd_replica *rep = &group->replicas[i];

	group->choices[i] = (struct msd_worker_selection_worker){
		.is_open = rep->is_open,
		.is_stuck = is_held_up(rep),
		.has_bound = !msd_list_is_empty(&rep->client_queues),
		.is_bound_turn = rep->is_bound_turn,
		.n_sent = rep->n_sent,
		.n_joins = group->run.batch_rows,
		.n_bound = rep->n_bound,
		.ahead_us = rep->ahead_us,
	};
}

/* True if the background has waited for enough other requests. */
static bool is_backgrounds_turn(const struct msd_worker_group *group)
{
	return group->n_foreground >= MSD_QUEUE_FOREGROUND_TURNS &&
	       !msd_list_is_empty(&group->background);
}

static void count_turn(struct msd_worker_group *group,
		       const struct msd_list *client_queues)
{
	if (client_queues == &group->background ||
	    msd_list_is_empty(&group->background)) {
		group->n_foreground = 0;
	} else {
		group->n_foreground++;
	}
}

/* Send one request of @lanes, which any worker can run. False: no request, or no
 * worker has room. */
static bool send_of(struct msd_worker_group *group, struct msd_list *client_queues)
{
	if (msd_list_is_empty(client_queues))
		return false;
	struct msd_client_queue *client_queue =
		MSD_CONTAINER_OF(client_queues->next, struct msd_client_queue, link);
	const struct msd_req *r = msd_client_queue_first(client_queue);
	const bool binds = makes_object(r) && !is_stale(r);
	const uint32_t i = binds ? msd_choose_home(group->choices, group->n_replicas)
				 : msd_choose_any(group->choices, group->n_replicas);
	if (i == MSD_NOBODY)
		return false;
	count_turn(group, client_queues);
	if (binds) {
		msd_client_queue_bind(client_queue, &group->replicas[i]);
	} else {
		send_one(&group->replicas[i], client_queue);
		group->replicas[i].is_bound_turn = true;
	}
	if (group->n_queued > 0)
		look(group, i);
	return true;
}

static bool send_shared(struct msd_worker_group *group)
{
	return send_of(group, is_backgrounds_turn(group) ? &group->background
							 : &group->client_queues);
}

/* Send one bound request to each worker. */
static bool send_bound(struct msd_worker_group *group)
{
	const uint32_t n = group->n_replicas;
	const bool has_shared = !msd_list_is_empty(&group->client_queues);
	uint32_t i = msd_choose_bound(group->choices, n, 0, has_shared);

	if (i == MSD_NOBODY)
		return false;
	for (; i != MSD_NOBODY;
	     i = msd_choose_bound(group->choices, n, i + 1, has_shared)) {
		struct msd_replica *rep = &group->replicas[i];
		send_one(rep, MSD_CONTAINER_OF(rep->client_queues.next,
					       struct msd_client_queue, link));
		rep->is_bound_turn = false;
		look(group, i);
	}
	return true;
}

/* A module with one worker has no homes: all queues that have requests to send are in
 * the list for any worker. */
static void pump_one(struct msd_worker_group *group)
{
	struct msd_replica *rep = group->replicas;

	while (group->n_queued > 0 &&
	       msd_worker_selection_has_room(rep->is_open, rep->n_sent) &&
	       !is_held_up(rep)) {
		struct msd_list *client_queues =
			msd_list_is_empty(&group->client_queues) ||
					is_backgrounds_turn(group)
				? &group->background
				: &group->client_queues;

		if (msd_list_is_empty(client_queues)) /* the rest is being refused */
			return;
		struct msd_client_queue *client_queue = MSD_CONTAINER_OF(
			client_queues->next, struct msd_client_queue, link);

		/* A sent request is ahead of all later ones, so do not send these
		 * early. */
		if ((msd_list_is_empty(&group->client_queues) ||
		     msd_client_queue_is_by_deadline(
			     msd_client_queue_first(client_queue))) &&
		    !msd_worker_selection_is_done_soon(rep->n_sent, rep->ahead_us))
			return;
		count_turn(group, client_queues);
		send_one(rep, client_queue);
	}
}

/* With several workers, requests go to the workers that worker_selection.c selects. */
static void pump_several(struct msd_worker_group *group)
{
	for (uint32_t i = 0; i < group->n_replicas; i++)
		look(group, i);
	while (group->n_queued > 0 && (send_shared(group) || send_bound(group) ||
				       send_of(group, &group->background)))
		continue;
}

void msd_queue_pump(struct msd_worker_group *group)
{
	if (!group->is_serving || group->n_queued == 0)
		return;
	if (group->n_replicas == 1) {
		pump_one(group);
	} else {
		pump_several(group);
	}
}

void msd_queue_need(struct msd_req *r, struct msd_process *p)
{
	msd_process_ref(p);
	msd_process_unref(r->at.needs);
	r->at.needs = p;
}

/* No client waits for the answer; an error is a bug of the daemon. */
static void on_told(struct msd_req *r, struct msd_in *in)
{
	struct msd_diag d = {0};

	if (msd_reply_is_ok(in))
		return;
	msd_reply_error(in, &d);
	msd_log(MSD_LOG_WARN, "worker_refused", "name=%s method=%s why=\"%s\"",
		r->at.replica->group->name, msd_method_row(r->method)->name,
		msd_diag_text(&d));
	msd_diag_finish(&d);
}

void msd_queue_tell(struct msd_replica *rep, struct msd_client *c,
		    enum msd_method method, const struct msd_buf *params)
{
	struct msd_req *r = rep->is_open ? msd_req_new(NULL, 0, method) : NULL;
	struct msd_client_queue *client_queue =
		c != NULL ? msd_client_queue_find(c, rep->group) : NULL;

	if (r == NULL)
		return;
	rep->group->ops->adopt(rep->group, r);
	r->job.on_response = on_told;
	msd_buf_put(&r->job.params, params->p, params->n);
	/* Earlier requests of the session are sent first. */
	if (client_queue != NULL && client_queue->n_requests > 0) {
		msd_queue_need(r, rep->process);
		msd_client_queue_append(client_queue, r);
		return;
	}
	if (!msd_replica_post(rep, r))
		msd_req_release(r);
}

void msd_queue_free_objects(struct msd_replica *rep,
			    const struct msd_reply_object *objects, uint32_t n)
{
	struct msd_buf params = {0};

	msd_pack_array(&params, n);
	for (uint32_t i = 0; i < n; i++) {
		msd_pack_object(&params, objects[i].handle, false,
				(struct msd_span){0});
	}
	if (!params.bad) /* without memory they stay until the worker ends */
		msd_queue_tell(rep, NULL, MSD_M_OBJECT_FREE, &params);
	msd_buf_finish(&params);
}

static void flush(struct msd_client_queue *client_queue)
{
	struct msd_list *it;

	if (client_queue->refused != MSD_REFUSED_NONE)
		msd_client_queue_serve(client_queue);
	while ((it = msd_list_first(&client_queue->requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_replica *rep =
			r->at.needs != NULL ? r->at.needs->replica : NULL;
		msd_list_remove(&r->link);
		msd_client_queue_left(r);
		if (rep == NULL || !rep->is_open || !msd_replica_post(rep, r))
			msd_req_release(r);
	}
}

void msd_queue_leave(struct msd_client *c)
{
	struct msd_list *it;

	while ((it = msd_list_first(&c->client_queues)) != NULL) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, client_link);
		flush(client_queue);
		msd_client_queue_free(client_queue);
	}
}
