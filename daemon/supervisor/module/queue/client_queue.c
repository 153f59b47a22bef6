#include "daemon/supervisor/module/queue/client_queue.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/queue/reject_reason.h"
#include "daemon/supervisor/request/budget.h"

/*
 * Happy path: the first request of a client to a module creates its queue. While it
 * has requests, the queue takes turns with other queues. A request that creates an
 * object binds the queue to a worker, its home, until no object is held there.
 * Failures: the home worker is lost, and the queue is unbound. A request leaves the
 * queue unsent, and the queue may be unbound.
 */

struct msd_client_queue *
msd_client_queue_find_kind(struct msd_client *c, const struct msd_worker_group *group,
			   enum msd_client_queue_kind kind)
{
	MSD_LIST_EACH (it, &c->client_queues) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, client_link);
		if (client_queue->group == group && client_queue->kind == kind)
			return client_queue;
	}
	return NULL;
}

struct msd_client_queue *msd_client_queue_find(struct msd_client *c,
					       const struct msd_worker_group *group)
{
	return msd_client_queue_find_kind(c, group, MSD_CLIENT_QUEUE_ORDERED);
}

struct msd_client_queue *msd_client_queue_get_kind(struct msd_client *c,
						   struct msd_worker_group *group,
						   enum msd_client_queue_kind kind)
{
	struct msd_client_queue *client_queue =
		msd_client_queue_find_kind(c, group, kind);

	if (client_queue != NULL)
		return client_queue;
	client_queue = calloc(1, sizeof(*client_queue));
	if (client_queue == NULL)
		return NULL;
	client_queue->group = group;
	client_queue->client = c;
	client_queue->kind = kind;
	msd_account_read_ahead(&c->account, sizeof(*client_queue));
	msd_list_init(&client_queue->link);
	msd_list_init(&client_queue->requests);
	msd_list_init(&client_queue->passed);
	msd_list_append(&c->client_queues, &client_queue->client_link);
	msd_list_append(&group->all_client_queues, &client_queue->all_link);
	return client_queue;
}

struct msd_client_queue *msd_client_queue_get(struct msd_client *c,
					      struct msd_worker_group *group)
{
	return msd_client_queue_get_kind(c, group, MSD_CLIENT_QUEUE_ORDERED);
}

/* Append the queue to the list in which it takes turns. */
static void join(struct msd_client_queue *client_queue)
{
	struct msd_list *others = &client_queue->group->client_queues;

	if (client_queue->refused != MSD_REFUSED_NONE) {
		others = &client_queue->group->refused;
	} else if (client_queue->home != NULL) {
		others = &client_queue->home->client_queues;
	} else if (client_queue->kind == MSD_CLIENT_QUEUE_BACKGROUND) {
		others = &client_queue->group->background;
	}
	msd_list_append(others, &client_queue->link);
}

/* Unbind the queue when no object is held or being created at its home. */
static void loosen(struct msd_client_queue *client_queue)
{
	if (client_queue->home == NULL ||
	    client_queue->n_held[MSD_CLIENT_OBJECT_TENSOR] > 0 ||
	    client_queue->n_held[MSD_CLIENT_OBJECT_INSTANCE] > 0 ||
	    client_queue->n_held[MSD_CLIENT_OBJECT_OTHER] > 0 ||
	    client_queue->n_requests > 0)
		return;
	client_queue->home->n_bound--;
	client_queue->home = NULL;
}

/* When @r is due, if it is ordered by its deadline; 0: it keeps its place. */
static uint64_t due_ms(const struct msd_req *r)
{
	if (r->method != MSD_M_CALL || !r->at.is_unordered || r->at.needs != NULL)
		return 0;
	return r->due.is_clients ? r->due.node.at_ms : UINT64_MAX;
}

bool msd_client_queue_is_by_deadline(const struct msd_req *r)
{
	const uint64_t ms = due_ms(r);

	return ms > 0 && ms < UINT64_MAX;
}

struct msd_overtaken
msd_client_queue_overtaken(const struct msd_client_queue *client_queue,
			   const struct msd_req *r)
{
	struct msd_overtaken ret = {.last = client_queue->requests.prev};

	while (ret.last != &client_queue->requests) {
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

void msd_client_queue_append(struct msd_client_queue *client_queue, struct msd_req *r)
{
	if (client_queue->n_requests == 0) {
		client_queue->turn_us = 0;
		join(client_queue);
	}
	msd_list_append(msd_client_queue_overtaken(client_queue, r).last->next,
			&r->link);
	r->at.client_queue = client_queue;
	r->at.expected_us = msd_worker_group_expect_us(client_queue->group,
						       client_queue->client, r);
	client_queue->n_requests++;
	client_queue->queued_us += r->at.expected_us;
	client_queue->group->n_queued++;
	client_queue->group->queued_us += r->at.expected_us;
}

struct msd_req *msd_client_queue_first(const struct msd_client_queue *client_queue)
{
	return MSD_CONTAINER_OF(client_queue->requests.next, struct msd_req, link);
}

static void end_refusal(struct msd_client_queue *client_queue)
{
	client_queue->refused = MSD_REFUSED_NONE;
	msd_reject_reason_unref(client_queue->why);
	client_queue->why = NULL;
}

/* Passed requests are at the front again. */
void msd_client_queue_look_again(struct msd_client_queue *client_queue)
{
	struct msd_list *first = client_queue->passed.next,
			*last = client_queue->passed.prev;

	if (msd_list_is_empty(&client_queue->passed))
		return;
	last->next = client_queue->requests.next;
	last->next->prev = last;
	client_queue->requests.next = first;
	first->prev = &client_queue->requests;
	msd_list_init(&client_queue->passed);
}

void msd_client_queue_refuse(struct msd_client_queue *client_queue,
			     enum msd_refused what, struct msd_reject_reason *why)
{
	if (client_queue->n_requests == 0 || what < client_queue->refused)
		return;
	msd_client_queue_look_again(client_queue);
	end_refusal(client_queue);
	client_queue->refused = what;
	client_queue->why = msd_reject_reason_ref(why);
	msd_list_remove(&client_queue->link);
	join(client_queue);
}

void msd_client_queue_pass(struct msd_client_queue *client_queue)
{
	struct msd_list *first = client_queue->requests.next;

	msd_list_remove(first);
	msd_list_append(&client_queue->passed, first);
}

void msd_client_queue_serve(struct msd_client_queue *client_queue)
{
	msd_client_queue_look_again(client_queue);
	end_refusal(client_queue);
	msd_list_remove(&client_queue->link);
	join(client_queue);
}

void msd_client_queue_left(struct msd_req *r)
{
	struct msd_client_queue *client_queue = r->at.client_queue;

	r->at.client_queue = NULL;
	client_queue->n_requests--;
	client_queue->queued_us -= r->at.expected_us;
	client_queue->group->n_queued--;
	client_queue->group->queued_us -= r->at.expected_us;
	if (client_queue->n_requests > 0)
		return;
	msd_list_remove(&client_queue->link);
	end_refusal(client_queue);
	loosen(client_queue);
}

/*
 * Fast calls of one client that are sent together are answered with one write. So a
 * turn is MSD_CLIENT_QUEUE_TURN_US of calls, or one call that takes longer or has no
 * known time.
 */
static bool has_turn_left(struct msd_client_queue *client_queue,
			  const struct msd_req *r)
{
	const uint32_t us = r->at.expected_us;

	client_queue->turn_us += us;
	if (us > 0 && client_queue->turn_us < MSD_CLIENT_QUEUE_TURN_US)
		return true;
	client_queue->turn_us = 0;
	return false;
}

struct msd_req *msd_client_queue_pop(struct msd_client_queue *client_queue)
{
	struct msd_req *r = msd_client_queue_first(client_queue);

	const bool goes_on = has_turn_left(client_queue, r);

	msd_list_remove(&r->link);
	msd_client_queue_left(r);
	if (!goes_on && !msd_list_is_empty(&client_queue->requests)) {
		msd_list_remove(&client_queue->link);
		join(client_queue);
	}
	return r;
}

void msd_client_queue_bind(struct msd_client_queue *client_queue,
			   struct msd_replica *home)
{
	client_queue->home = home;
	home->n_bound++;
	if (client_queue->n_requests == 0)
		return;
	msd_list_remove(&client_queue->link);
	join(client_queue);
}

/* A queue holds objects in its home worker; a module with one worker has no homes. */
static bool holds_at(const struct msd_client_queue *client_queue,
		     const struct msd_replica *rep)
{
	return client_queue->home == rep ||
	       (client_queue->home == NULL && client_queue->group->n_replicas == 1);
}

/* Return the queue of @c that holds objects in the worker @p, or NULL. */
static struct msd_client_queue *queue_at(struct msd_client *c,
					 const struct msd_process *p)
{
	struct msd_client_queue *client_queue =
		c != NULL && p != NULL && p->replica != NULL
			? msd_client_queue_find(c, p->replica->group)
			: NULL;

	return client_queue != NULL && holds_at(client_queue, p->replica) ? client_queue
									  : NULL;
}

void msd_client_queue_hold(struct msd_client *c, const struct msd_process *p,
			   enum msd_client_object what, uint64_t bytes)
{
	struct msd_client_queue *client_queue = queue_at(c, p);

	if (client_queue == NULL)
		return;
	client_queue->n_held[what]++;
	client_queue->n_held[MSD_CLIENT_OBJECT_BYTES] += bytes;
}

void msd_client_queue_release(struct msd_client *c, const struct msd_process *p,
			      enum msd_client_object what, uint64_t bytes)
{
	struct msd_client_queue *client_queue = queue_at(c, p);

	if (client_queue == NULL)
		return;
	client_queue->n_held[what]--;
	client_queue->n_held[MSD_CLIENT_OBJECT_BYTES] -= bytes;
	loosen(client_queue);
}

/* Objects held in the worker of @client_queue, by its peer and by other peers. */
struct holdings {
	uint64_t peers, others;
};

static struct holdings holdings_of(const struct msd_client_queue *client_queue,
				   enum msd_client_object what)
{
	struct holdings ret = {0};

	MSD_LIST_EACH (it, &client_queue->group->all_client_queues) {
		const struct msd_client_queue *other =
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link);
		if (other->home != client_queue->home)
			continue;
		if (msd_peer_id_is(other->client->peer, client_queue->client->peer)) {
			ret.peers += other->n_held[what];
		} else {
			ret.others += other->n_held[what];
		}
	}
	return ret;
}

uint64_t msd_client_queue_room(const struct msd_client_queue *client_queue,
			       enum msd_client_object what, uint64_t max, uint64_t all)
{
	const uint64_t own = client_queue->n_held[what];
	const uint64_t twice = max <= UINT64_MAX / 2 ? 2 * max : UINT64_MAX;

	if (own >= max)
		return 0;
	const struct holdings held = holdings_of(client_queue, what);
	const uint64_t of_peer = msd_fair_share_of(all, held.others, twice);
	if (held.peers >= of_peer)
		return 0;
	return max - own < of_peer - held.peers ? max - own : of_peer - held.peers;
}

void msd_client_queues_unbind(struct msd_replica *home)
{
	MSD_LIST_EACH (it, &home->group->all_client_queues) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link);
		if (!holds_at(client_queue, home))
			continue;
		memset(client_queue->n_held, 0, sizeof(client_queue->n_held));
		if (client_queue->home == NULL)
			continue;
		client_queue->home = NULL;
		msd_list_remove(&client_queue->link);
		if (client_queue->n_requests > 0)
			join(client_queue);
	}
	home->n_bound = 0;
}

void msd_client_queue_free(struct msd_client_queue *client_queue)
{
	if (client_queue->home != NULL)
		client_queue->home->n_bound--;
	msd_account_served(&client_queue->client->account, sizeof(*client_queue));
	msd_list_remove(&client_queue->link);
	msd_list_remove(&client_queue->client_link);
	msd_list_remove(&client_queue->all_link);
	free(client_queue);
}
