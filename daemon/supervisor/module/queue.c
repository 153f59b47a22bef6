#include <stdlib.h>

#include "daemon/supervisor/module/life.h"

/*
 * Requests of one session to one module form a lane, in order; lanes take turns, one
 * request each, so that a client with a long pipeline does not starve the others. A
 * worker has at most MSD_SEND_AHEAD requests at a time: enough to keep it busy, few
 * enough to stay fair and to lose little with it.
 *
 * Of several workers the one with the fewest requests gets the next. None waits behind
 * what may take long while another worker could begin it: to a busy worker only as much
 * is sent as it is expected to be done with in AHEAD_US.
 */
#define AHEAD_US 1000u

static void set_ready_wait(struct msd_req *r)
{
	if (r->due.node.slot != 0)
		return;
	r->due.is_for_ready = msd_req_set_due(r, r->module->house->deadlines,
					      r->module->house->limits->ready_wait_ms);
}

/* Before all workers are there a load may still fail as a whole. */
static bool has_ready(const struct msd_module *m)
{
	return m->life.n_open > 0 && m->life.state != MSD_STATE_LOADING;
}

void msd_module_submit(struct msd_module *m, struct msd_req *r)
{
	if (m->life.state == MSD_STATE_FAILED ||
	    m->life.state == MSD_STATE_QUARANTINED) {
		/* Its own code, if it has one, is about the file, not about this call.
		 */
		msd_req_refuse(r,
			       m->life.state == MSD_STATE_FAILED ? MSD_MODULE_FAILED
								 : m->error_code,
			       m->error != NULL ? m->error : "the module failed");
		return;
	}
	/* What was admitted before the unload, its payload on the way, is still run. */
	if (m->life.state == MSD_STATE_DRAINING && !has_ready(m)) {
		msd_req_refuse(r, MSD_DRAINING, "the module is being unloaded");
		return;
	}
	struct msd_lane *lane = msd_lane_get(r->client.who, m);
	if (lane == NULL || r->job.params.bad) {
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
		return;
	}
	msd_lane_append(lane, r);
	if (has_ready(m))
		msd_module_pump(m);
	else
		set_ready_wait(r);
}

/* Its answer is an object in the worker that runs it. */
static bool makes_object(const struct msd_req *r)
{
	return r->method == MSD_M_TENSOR_ALLOC || r->method == MSD_M_TENSOR_COPY ||
	       r->method == MSD_M_MODULE_INSTANCE;
}

/* The worker that it is about is gone, and with it the objects that it names. */
static bool is_stale(const struct msd_req *r)
{
	return r->at.needs != NULL && r->at.needs->replica == NULL;
}

static void send_one(struct msd_replica *rep, struct msd_lane *lane)
{
	struct msd_req *r = msd_lane_first(lane);
	struct msd_out *o = is_stale(r) ? NULL : msd_out_new();

	if (o != NULL && lane->home == rep && makes_object(r)) {
		lane->n_held++;
		r->at.holds = true;
	}
	(void)msd_lane_take(lane);
	if (is_stale(r))
		msd_req_refuse(
			r, MSD_STALE_HANDLE,
			"what the request names was lost with the module's worker");
	else if (o == NULL)
		msd_req_refuse(r, MSD_NOMEM, "request: out of memory");
	else
		msd_replica_post(rep, r, o);
}

static bool can_take(const struct msd_replica *rep)
{
	return rep->is_open && rep->n_sent < MSD_SEND_AHEAD &&
	       !msd_replica_is_stuck(rep);
}

/* It would begin one more request soon. */
static bool has_room(const struct msd_replica *rep)
{
	return can_take(rep) && (rep->module->n_replicas == 1 || rep->n_sent == 0 ||
				 rep->ahead_us < AHEAD_US);
}

/* The worker for a request of any lane, or NULL. The first one of equals: what nobody
 * needs stays cold. */
static struct msd_replica *choose(struct msd_module *m)
{
	struct msd_replica *best = NULL;

	for (uint32_t i = 0; i < m->n_replicas; i++) {
		struct msd_replica *rep = &m->replicas[i];
		if (!has_room(rep) ||
		    (rep->is_bound_turn && !msd_list_is_empty(&rep->lanes)))
			continue;
		if (best == NULL || rep->n_sent < best->n_sent ||
		    (rep->n_sent == best->n_sent && rep->n_bound < best->n_bound))
			best = rep;
	}
	return best;
}

/* Where a session shall hold objects: with the fewest others. */
static struct msd_replica *choose_home(struct msd_module *m)
{
	struct msd_replica *best = NULL;

	for (uint32_t i = 0; i < m->n_replicas; i++) {
		struct msd_replica *rep = &m->replicas[i];
		if (!rep->is_open || msd_replica_is_stuck(rep))
			continue;
		if (best == NULL || rep->n_bound < best->n_bound ||
		    (rep->n_bound == best->n_bound && rep->n_sent < best->n_sent))
			best = rep;
	}
	return best;
}

/* One request of the lanes that may go anywhere. False: none, or nobody has room. */
static bool send_shared(struct msd_module *m)
{
	struct msd_replica *rep;

	if (msd_list_is_empty(&m->lanes))
		return false;
	struct msd_lane *lane = MSD_CONTAINER_OF(m->lanes.next, struct msd_lane, link);
	const struct msd_req *r = msd_lane_first(lane);
	if (m->n_replicas > 1 && makes_object(r) && !is_stale(r)) {
		rep = choose_home(m);
		if (rep != NULL)
			msd_lane_bind(lane, rep);
		return rep != NULL;
	}
	rep = choose(m);
	if (rep == NULL)
		return false;
	send_one(rep, lane);
	rep->is_bound_turn = true;
	return true;
}

/* One request of the lanes that are at home with each worker. */
static bool send_bound(struct msd_module *m)
{
	bool was_sent = false;

	for (uint32_t i = 0; i < m->n_replicas; i++) {
		struct msd_replica *rep = &m->replicas[i];
		if (msd_list_is_empty(&rep->lanes) || !can_take(rep) ||
		    (!msd_list_is_empty(&m->lanes) && !has_room(rep)))
			continue;
		send_one(rep, MSD_CONTAINER_OF(rep->lanes.next, struct msd_lane, link));
		rep->is_bound_turn = false;
		was_sent = true;
	}
	return was_sent;
}

void msd_module_pump(struct msd_module *m)
{
	while (has_ready(m) && (send_shared(m) || send_bound(m)))
		continue;
}

static void each_queued(struct msd_module *m, void (*visit)(struct msd_req *r))
{
	MSD_LIST_EACH (lane_it, &m->all_lanes) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(lane_it, struct msd_lane, all_link);
		MSD_LIST_EACH (it, &lane->requests) {
			visit(MSD_CONTAINER_OF(it, struct msd_req, link));
		}
	}
}

static void clear_ready_wait(struct msd_req *r)
{
	if (!r->due.is_for_ready)
		return;
	r->due.is_for_ready = false;
	msd_deadline_clear(r->module->house->deadlines, &r->due.node);
}

void msd_module_ready_queued(struct msd_module *m)
{
	each_queued(m, clear_ready_wait);
}

void msd_module_wait_queued(struct msd_module *m)
{
	each_queued(m, set_ready_wait);
}

static void refuse_lanes(struct msd_list *lanes, msd_err err, const char *text)
{
	struct msd_list *it;

	while ((it = msd_list_first(lanes)) != NULL)
		msd_req_refuse(
			msd_lane_first(MSD_CONTAINER_OF(it, struct msd_lane, link)),
			err, text);
}

void msd_module_refuse_queued(struct msd_module *m, msd_err err, const char *text)
{
	refuse_lanes(&m->lanes, err, text);
	for (uint32_t i = 0; i < m->n_replicas; i++)
		refuse_lanes(&m->replicas[i].lanes, err, text);
}
