#include "daemon/supervisor/module/lane.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/why.h"
#include "daemon/supervisor/request/part.h"

/*
 * Happy path: the first request of a client to a module creates its queue. While it
 * has requests, the queue takes turns with other queues. A request that creates an
 * object binds the queue to a worker, its home, until no object is held there.
 * Failures: the home worker is lost, and the queue is unbound. A request leaves the
 * queue unsent, and the queue may be unbound.
 */

struct msd_lane *msd_lane_find_kind(struct msd_client *c, const struct msd_crew *crew,
				    enum msd_lane_kind kind)
{
	MSD_LIST_EACH (it, &c->lanes) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_lane, client_link);
		if (lane->crew == crew && lane->kind == kind)
			return lane;
	}
	return NULL;
}

struct msd_lane *msd_lane_find(struct msd_client *c, const struct msd_crew *crew)
{
	return msd_lane_find_kind(c, crew, MSD_LANE_ORDERED);
}

struct msd_lane *msd_lane_get_kind(struct msd_client *c, struct msd_crew *crew,
				   enum msd_lane_kind kind)
{
	struct msd_lane *lane = msd_lane_find_kind(c, crew, kind);

	if (lane != NULL)
		return lane;
	lane = calloc(1, sizeof(*lane));
	if (lane == NULL)
		return NULL;
	lane->crew = crew;
	lane->client = c;
	lane->kind = kind;
	msd_account_read_ahead(&c->account, sizeof(*lane));
	msd_list_init(&lane->link);
	msd_list_init(&lane->requests);
	msd_list_init(&lane->passed);
	msd_list_append(&c->lanes, &lane->client_link);
	msd_list_append(&crew->all_lanes, &lane->all_link);
	return lane;
}

struct msd_lane *msd_lane_get(struct msd_client *c, struct msd_crew *crew)
{
	return msd_lane_get_kind(c, crew, MSD_LANE_ORDERED);
}

/* Append the queue to the list in which it takes turns. */
static void join(struct msd_lane *lane)
{
	struct msd_list *others = &lane->crew->lanes;

	if (lane->refused != MSD_REFUSED_NONE) {
		others = &lane->crew->refused;
	} else if (lane->home != NULL) {
		others = &lane->home->lanes;
	} else if (lane->kind == MSD_LANE_BACKGROUND) {
		others = &lane->crew->background;
	}
	msd_list_append(others, &lane->link);
}

/* Unbind the queue when no object is held or being created at its home. */
static void loosen(struct msd_lane *lane)
{
	if (lane->home == NULL || lane->n_held[MSD_HELD_TENSOR] > 0 ||
	    lane->n_held[MSD_HELD_INSTANCE] > 0 || lane->n_requests > 0)
		return;
	lane->home->n_bound--;
	lane->home = NULL;
}

/* When @r is due, if it is ordered by its deadline; 0: it keeps its place. */
static uint64_t due_ms(const struct msd_req *r)
{
	if (r->method != MSD_M_CALL || !r->at.is_unordered || r->at.needs != NULL)
		return 0;
	return r->due.is_clients ? r->due.node.at_ms : UINT64_MAX;
}

bool msd_lane_is_by_deadline(const struct msd_req *r)
{
	const uint64_t ms = due_ms(r);

	return ms > 0 && ms < UINT64_MAX;
}

struct msd_overtaken msd_lane_overtaken(const struct msd_lane *lane,
					const struct msd_req *r)
{
	struct msd_overtaken ret = {.last = lane->requests.prev};

	while (ret.last != &lane->requests) {
		const struct msd_req *before =
			MSD_CONTAINER_OF(ret.last, struct msd_req, link);

		if (due_ms(r) == 0 || due_ms(before) <= due_ms(r))
			break;
		ret.n++;
		ret.us += before->at.expected_us;
		ret.last = ret.last->prev;
	}
	return ret;
}

void msd_lane_append(struct msd_lane *lane, struct msd_req *r)
{
	if (lane->n_requests == 0) {
		lane->turn_us = 0;
		join(lane);
	}
	msd_list_append(msd_lane_overtaken(lane, r).last->next, &r->link);
	r->at.lane = lane;
	r->at.expected_us = msd_crew_expect_us(lane->crew, lane->client, r);
	lane->n_requests++;
	lane->queued_us += r->at.expected_us;
	lane->crew->n_queued++;
	lane->crew->queued_us += r->at.expected_us;
}

struct msd_req *msd_lane_first(const struct msd_lane *lane)
{
	return MSD_CONTAINER_OF(lane->requests.next, struct msd_req, link);
}

static void end_refusal(struct msd_lane *lane)
{
	lane->refused = MSD_REFUSED_NONE;
	msd_why_unref(lane->why);
	lane->why = NULL;
}

/* Passed requests are at the front again. */
void msd_lane_look_again(struct msd_lane *lane)
{
	struct msd_list *first = lane->passed.next, *last = lane->passed.prev;

	if (msd_list_is_empty(&lane->passed))
		return;
	last->next = lane->requests.next;
	last->next->prev = last;
	lane->requests.next = first;
	first->prev = &lane->requests;
	msd_list_init(&lane->passed);
}

void msd_lane_refuse(struct msd_lane *lane, enum msd_refused what, struct msd_why *why)
{
	if (lane->n_requests == 0 || what < lane->refused)
		return;
	msd_lane_look_again(lane);
	end_refusal(lane);
	lane->refused = what;
	lane->why = msd_why_ref(why);
	msd_list_remove(&lane->link);
	join(lane);
}

void msd_lane_pass(struct msd_lane *lane)
{
	struct msd_list *first = lane->requests.next;

	msd_list_remove(first);
	msd_list_append(&lane->passed, first);
}

void msd_lane_serve(struct msd_lane *lane)
{
	msd_lane_look_again(lane);
	end_refusal(lane);
	msd_list_remove(&lane->link);
	join(lane);
}

void msd_lane_left(struct msd_req *r)
{
	struct msd_lane *lane = r->at.lane;

	r->at.lane = NULL;
	lane->n_requests--;
	lane->queued_us -= r->at.expected_us;
	lane->crew->n_queued--;
	lane->crew->queued_us -= r->at.expected_us;
	if (lane->n_requests > 0)
		return;
	msd_list_remove(&lane->link);
	end_refusal(lane);
	loosen(lane);
}

/*
 * Fast calls of one client that are sent together are answered with one write. So a
 * turn is MSD_LANE_TURN_US of calls, or one call that takes longer or has no known
 * time.
 */
static bool has_turn_left(struct msd_lane *lane, const struct msd_req *r)
{
	const uint32_t us = r->at.expected_us;

	lane->turn_us += us;
	if (us > 0 && lane->turn_us < MSD_LANE_TURN_US)
		return true;
	lane->turn_us = 0;
	return false;
}

struct msd_req *msd_lane_take(struct msd_lane *lane)
{
	struct msd_req *r = msd_lane_first(lane);

	const bool goes_on = has_turn_left(lane, r);

	msd_list_remove(&r->link);
	msd_lane_left(r);
	if (!goes_on && !msd_list_is_empty(&lane->requests)) {
		msd_list_remove(&lane->link);
		join(lane);
	}
	return r;
}

void msd_lane_bind(struct msd_lane *lane, struct msd_replica *home)
{
	lane->home = home;
	home->n_bound++;
	if (lane->n_requests == 0)
		return;
	msd_list_remove(&lane->link);
	join(lane);
}

/* A queue holds objects in its home worker; a module with one worker has no homes. */
static bool holds_at(const struct msd_lane *lane, const struct msd_replica *rep)
{
	return lane->home == rep || (lane->home == NULL && lane->crew->n_replicas == 1);
}

/* Return the queue of @c that holds objects in the worker @p, or NULL. */
static struct msd_lane *lane_at(struct msd_client *c, const struct msd_process *p)
{
	struct msd_lane *lane = c != NULL && p != NULL && p->replica != NULL
					? msd_lane_find(c, p->replica->crew)
					: NULL;

	return lane != NULL && holds_at(lane, p->replica) ? lane : NULL;
}

void msd_lane_hold(struct msd_client *c, const struct msd_process *p,
		   enum msd_held what, uint64_t bytes)
{
	struct msd_lane *lane = lane_at(c, p);

	if (lane == NULL)
		return;
	lane->n_held[what]++;
	lane->n_held[MSD_HELD_BYTES] += bytes;
}

void msd_lane_release(struct msd_client *c, const struct msd_process *p,
		      enum msd_held what, uint64_t bytes)
{
	struct msd_lane *lane = lane_at(c, p);

	if (lane == NULL)
		return;
	lane->n_held[what]--;
	lane->n_held[MSD_HELD_BYTES] -= bytes;
	loosen(lane);
}

/* Objects held in the worker of @lane, by its peer and by other peers. */
struct holdings {
	uint64_t peers, others;
};

static struct holdings holdings_of(const struct msd_lane *lane, enum msd_held what)
{
	struct holdings ret = {0};

	MSD_LIST_EACH (it, &lane->crew->all_lanes) {
		const struct msd_lane *other =
			MSD_CONTAINER_OF(it, struct msd_lane, all_link);
		if (other->home != lane->home)
			continue;
		if (msd_peer_id_is(other->client->peer, lane->client->peer)) {
			ret.peers += other->n_held[what];
		} else {
			ret.others += other->n_held[what];
		}
	}
	return ret;
}

uint64_t msd_lane_room(const struct msd_lane *lane, enum msd_held what, uint64_t max,
		       uint64_t all)
{
	const uint64_t own = lane->n_held[what];
	const uint64_t twice = max <= UINT64_MAX / 2 ? 2 * max : UINT64_MAX;

	if (own >= max)
		return 0;
	const struct holdings held = holdings_of(lane, what);
	const uint64_t of_peer = msd_part_of(all, held.others, twice);
	if (held.peers >= of_peer)
		return 0;
	return max - own < of_peer - held.peers ? max - own : of_peer - held.peers;
}

void msd_lanes_unbind(struct msd_replica *home)
{
	MSD_LIST_EACH (it, &home->crew->all_lanes) {
		struct msd_lane *lane = MSD_CONTAINER_OF(it, struct msd_lane, all_link);
		if (!holds_at(lane, home))
			continue;
		memset(lane->n_held, 0, sizeof(lane->n_held));
		if (lane->home == NULL)
			continue;
		lane->home = NULL;
		msd_list_remove(&lane->link);
		if (lane->n_requests > 0)
			join(lane);
	}
	home->n_bound = 0;
}

void msd_lane_free(struct msd_lane *lane)
{
	if (lane->home != NULL)
		lane->home->n_bound--;
	msd_account_served(&lane->client->account, sizeof(*lane));
	msd_list_remove(&lane->link);
	msd_list_remove(&lane->client_link);
	msd_list_remove(&lane->all_link);
	free(lane);
}
