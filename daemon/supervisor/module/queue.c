#include "daemon/supervisor/module/queue.h"

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/choice.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/ready_wait.h"
#include "daemon/supervisor/module/reply.h"

/*
 * Happy path: put a request; its client queue waits for its turn. pump inspects the
 * workers, choice.c selects one, and the first request is posted to it. Failures: no
 * worker is running or has room, and the request waits, until its deadline or
 * limits.ready_wait. An object that it names was lost with a worker, and it is
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
static struct msd_lane *lane_for(struct msd_crew *crew, const struct msd_req *r)
{
	struct msd_lane *lane = msd_lane_get(r->client.who, crew);

	if (lane == NULL || r->at.needs != NULL || makes_object(r))
		return lane;
	if (r->at.is_background)
		return msd_lane_get_kind(r->client.who, crew, MSD_LANE_BACKGROUND);
	if (!r->at.is_unordered || lane->home == NULL)
		return lane;
	return msd_lane_get_kind(r->client.who, crew, MSD_LANE_LOOSE);
}

void msd_queue_put(struct msd_crew *crew, struct msd_req *r)
{
	struct msd_lane *lane = lane_for(crew, r);

	if (lane == NULL || r->job.params.bad) {
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
		return;
	}
	msd_lane_append(lane, r);
	if (crew->is_serving) {
		msd_queue_pump(crew);
	} else {
		msd_ready_wait_set(r);
	}
}

/* True if the worker with the objects that it names is gone. */
static bool is_stale(const struct msd_req *r)
{
	return r->at.needs != NULL && r->at.needs->replica == NULL;
}

/* Return why @r may not create its object; NULL: it may, or it creates none. A copy
 * may go to memory of the client; only a copy to a device creates a tensor. */
static const char *one_too_many(const struct msd_lane *lane, const struct msd_req *r,
				msd_err *ret)
{
	const struct msd_limits *limits = lane->crew->house->limits;

	*ret = MSD_BUSY;
	if (!makes_object(r) ||
	    (r->method == MSD_M_TENSOR_COPY && !r->at.is_copy_to_device))
		return NULL;
	if (msd_lane_held(r) == MSD_HELD_INSTANCE) {
		return msd_lane_room(lane, MSD_HELD_INSTANCE, limits->max_executors,
				     MSD_MAX_INSTANCES) > 0
			       ? NULL
			       : "the connection or its peer has as many instances in "
				 "the module's worker as it may, or as others leave it "
				 "(--max-executors): free some, or wait until they do";
	}
	if (msd_lane_room(lane, MSD_HELD_TENSOR, limits->max_tensors,
			  MSD_MAX_RESIDENTS) == 0) {
		return "the connection or its peer has as many resident tensors in the "
		       "module's worker as it may, or as others leave it "
		       "(--max-tensors): free some, or wait until they do";
	}
	if (r->at.makes_bytes > limits->max_resident) {
		*ret = MSD_NO_SPACE; /* even if all other objects are freed */
		return "the tensor has more bytes than a connection may have resident "
		       "in the module's worker (--max-resident)";
	}
	return msd_lane_room(lane, MSD_HELD_BYTES, limits->max_resident,
			     limits->max_memory) >= r->at.makes_bytes
		       ? NULL
		       : "the connection or its peer has as many bytes of resident "
			 "tensors in the module's worker as it may, or as others leave "
			 "it (--max-resident): free some, or wait until they do";
}

static void send_one(struct msd_replica *rep, struct msd_lane *lane)
{
	struct msd_req *r = msd_lane_first(lane);
	msd_err why = MSD_OK;
	const char *too_many = one_too_many(lane, r, &why);

	if (makes_object(r) && !is_stale(r) && too_many == NULL) {
		lane->n_held[msd_lane_held(r)]++;
		lane->n_held[MSD_HELD_BYTES] += r->at.makes_bytes;
		r->at.holds = true;
	}
	(void)msd_lane_take(lane);
	msd_ready_wait_clear(r);
	if (is_stale(r)) {
		msd_req_refuse(
			r, MSD_STALE_HANDLE,
			"what the request names was lost with the module's worker");
	} else if (too_many != NULL) {
		msd_req_refuse(r, why, too_many);
	} else if (!msd_replica_post(rep, r)) {
		if (r->at.holds) {
			msd_lane_release(r->client.who, rep->process, msd_lane_held(r),
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
		uv_now(rep->crew->house->loop) - rep->head_since_ms >=
			MSD_REPLICA_LONG_MS);
}

static void look(const struct msd_crew *crew, uint32_t i)
{
	const struct msd_replica *rep = &crew->replicas[i];

	crew->choices[i] = (struct msd_choice_worker){
		.is_open = rep->is_open,
		.is_stuck = is_held_up(rep),
		.has_bound = !msd_list_is_empty(&rep->lanes),
		.is_bound_turn = rep->is_bound_turn,
		.n_sent = rep->n_sent,
		.n_joins = crew->batching.rows,
		.n_bound = rep->n_bound,
		.ahead_us = rep->ahead_us,
	};
}

/* True if the background has waited for enough other requests. */
static bool is_backgrounds_turn(const struct msd_crew *crew)
{
	return crew->n_foreground >= MSD_QUEUE_FOREGROUND_TURNS &&
	       !msd_list_is_empty(&crew->background);
}

static void count_turn(struct msd_crew *crew, const struct msd_list *lanes)
{
	if (lanes == &crew->background || msd_list_is_empty(&crew->background)) {
		crew->n_foreground = 0;
	} else {
		crew->n_foreground++;
	}
}

/* Send one request of @lanes, which any worker can run. False: no request, or no
 * worker has room. */
static bool send_of(struct msd_crew *crew, struct msd_list *lanes)
{
	if (msd_list_is_empty(lanes))
		return false;
	struct msd_lane *lane = MSD_CONTAINER_OF(lanes->next, struct msd_lane, link);
	const struct msd_req *r = msd_lane_first(lane);
	const bool binds = makes_object(r) && !is_stale(r);
	const uint32_t i = binds ? msd_choose_home(crew->choices, crew->n_replicas)
				 : msd_choose_any(crew->choices, crew->n_replicas);
	if (i == MSD_NOBODY)
		return false;
	count_turn(crew, lanes);
	if (binds) {
		msd_lane_bind(lane, &crew->replicas[i]);
	} else {
		send_one(&crew->replicas[i], lane);
		crew->replicas[i].is_bound_turn = true;
	}
	if (crew->n_queued > 0)
		look(crew, i);
	return true;
}

static bool send_shared(struct msd_crew *crew)
{
	return send_of(crew,
		       is_backgrounds_turn(crew) ? &crew->background : &crew->lanes);
}

/* Send one bound request to each worker. */
static bool send_bound(struct msd_crew *crew)
{
	const uint32_t n = crew->n_replicas;
	const bool has_shared = !msd_list_is_empty(&crew->lanes);
	uint32_t i = msd_choose_bound(crew->choices, n, 0, has_shared);

	if (i == MSD_NOBODY)
		return false;
	for (; i != MSD_NOBODY;
	     i = msd_choose_bound(crew->choices, n, i + 1, has_shared)) {
		struct msd_replica *rep = &crew->replicas[i];
		send_one(rep, MSD_CONTAINER_OF(rep->lanes.next, struct msd_lane, link));
		rep->is_bound_turn = false;
		look(crew, i);
	}
	return true;
}

/* A module with one worker has no homes: all queues that have requests to send are in
 * the list for any worker. */
static void pump_one(struct msd_crew *crew)
{
	struct msd_replica *rep = crew->replicas;

	while (crew->n_queued > 0 && msd_choice_has_room(rep->is_open, rep->n_sent) &&
	       !is_held_up(rep)) {
		struct msd_list *lanes =
			msd_list_is_empty(&crew->lanes) || is_backgrounds_turn(crew)
				? &crew->background
				: &crew->lanes;

		if (msd_list_is_empty(lanes)) /* the rest is being refused */
			return;
		struct msd_lane *lane =
			MSD_CONTAINER_OF(lanes->next, struct msd_lane, link);

		/* A sent request is ahead of all later ones, so do not send these
		 * early. */
		if ((msd_list_is_empty(&crew->lanes) ||
		     msd_lane_is_by_deadline(msd_lane_first(lane))) &&
		    !msd_choice_is_done_soon(rep->n_sent, rep->ahead_us))
			return;
		count_turn(crew, lanes);
		send_one(rep, lane);
	}
}

/* With several workers, requests go to the workers that choice.c selects. */
static void pump_several(struct msd_crew *crew)
{
	for (uint32_t i = 0; i < crew->n_replicas; i++)
		look(crew, i);
	while (crew->n_queued > 0 && (send_shared(crew) || send_bound(crew) ||
				      send_of(crew, &crew->background)))
		continue;
}

void msd_queue_pump(struct msd_crew *crew)
{
	if (!crew->is_serving || crew->n_queued == 0)
		return;
	if (crew->n_replicas == 1) {
		pump_one(crew);
	} else {
		pump_several(crew);
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
	msd_log(MSD_LOG_WARN, "worker-refused", "name=%s method=%s why=\"%s\"",
		r->at.replica->crew->name, msd_method_row(r->method)->name,
		msd_diag_text(&d));
	msd_diag_finish(&d);
}

void msd_queue_tell(struct msd_replica *rep, struct msd_client *c,
		    enum msd_method method, const struct msd_buf *params)
{
	struct msd_req *r = rep->is_open ? msd_req_new(NULL, 0, method) : NULL;
	struct msd_lane *lane = c != NULL ? msd_lane_find(c, rep->crew) : NULL;

	if (r == NULL)
		return;
	rep->crew->ops->adopt(rep->crew, r);
	r->job.on_response = on_told;
	msd_buf_put(&r->job.params, params->p, params->n);
	/* Earlier requests of the session are sent first. */
	if (lane != NULL && lane->n_requests > 0) {
		msd_queue_need(r, rep->process);
		msd_lane_append(lane, r);
		return;
	}
	if (!msd_replica_post(rep, r))
		msd_req_release(r);
}

static void flush(struct msd_lane *lane)
{
	struct msd_list *it;

	if (lane->refused != MSD_REFUSED_NONE)
		msd_lane_serve(lane);
	while ((it = msd_list_first(&lane->requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_replica *rep =
			r->at.needs != NULL ? r->at.needs->replica : NULL;
		msd_list_remove(&r->link);
		msd_lane_left(r);
		if (rep == NULL || !rep->is_open || !msd_replica_post(rep, r))
			msd_req_release(r);
	}
}

void msd_queue_leave(struct msd_client *c)
{
	struct msd_list *it;

	while ((it = msd_list_first(&c->lanes)) != NULL) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_lane, client_link);
		flush(lane);
		msd_lane_free(lane);
	}
}
