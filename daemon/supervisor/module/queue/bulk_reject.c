#include "daemon/supervisor/module/queue/bulk_reject.h"

#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "daemon/supervisor/module/queue/ready_timeout.h"
#include "daemon/supervisor/module/queue/reject_reason.h"

/*
 * Happy path: client queues with requests to refuse are withheld. Each step of a
 * task checks one request. When a queue is checked, it is served again with its passed
 * requests. Failures: no memory for the reason; the answers then say MSD_NOMEM.
 */

static struct msd_client_queue *first_lane(struct msd_worker_group *group)
{
	struct msd_list *it = msd_list_first(&group->refused);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_client_queue, link) : NULL;
}

/* A call to a module that was replaced goes to the module that replaced it. */
static bool pass_on_first(struct msd_client_queue *client_queue)
{
	struct msd_worker_group *group = client_queue->group;

	return group->ops->pass_on != NULL &&
	       group->ops->pass_on(group, msd_client_queue_first(client_queue));
}

/* After its last request @client_queue is served again, and the reason may be freed. */
static void refuse_first(struct msd_client_queue *client_queue)
{
	struct msd_reject_reason *why = msd_reject_reason_ref(client_queue->why);

	msd_reject_reason_refuse(why, msd_client_queue_first(client_queue));
	msd_reject_reason_unref(why);
}

static bool is_refused(const struct msd_client_queue *client_queue,
		       const struct msd_req *r)
{
	return client_queue->refused == MSD_REFUSED_ALL ||
	       (client_queue->refused == MSD_REFUSED_ASKED && r->client.who != NULL) ||
	       (client_queue->refused == MSD_REFUSED_DEADLY && msd_req_may_kill(r));
}

static void look_at_one(struct msd_client_queue *client_queue)
{
	struct msd_worker_group *group = client_queue->group;

	if (msd_list_is_empty(&client_queue->requests)) {
		msd_client_queue_serve(client_queue);
		msd_queue_pump(group);
	} else if (pass_on_first(client_queue)) {
		return;
	} else if (is_refused(client_queue, msd_client_queue_first(client_queue))) {
		refuse_first(client_queue);
	} else if (msd_ready_timeout_is_late(msd_client_queue_first(client_queue))) {
		msd_ready_timeout_refuse(msd_client_queue_first(client_queue));
	} else {
		msd_client_queue_pass(client_queue);
	}
}

static enum msd_task_result refuse_next(struct msd_task *t)
{
	struct msd_worker_group *group =
		MSD_CONTAINER_OF(t, struct msd_worker_group, refusal);
	struct msd_client_queue *client_queue = first_lane(group);

	if (client_queue != NULL)
		look_at_one(client_queue);
	if (!msd_list_is_empty(&group->refused))
		return MSD_TASK_AGAIN;
	group->ops->on_refused(group);
	return MSD_TASK_DONE;
}

static void go_on(struct msd_worker_group *group)
{
	if (msd_list_is_empty(&group->refused))
		return;
	group->refusal.step = refuse_next;
	group->refusal.class = MSD_TASK_ANSWER;
	msd_task_begin(group->registry->deadlines->tasks, &group->refusal);
}

void msd_refusal_begin(struct msd_worker_group *group, msd_err err, const char *text)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, err, "%s", text);
	struct msd_reject_reason *why = msd_reject_reason_new(&d);

	MSD_LIST_EACH (it, &group->all_client_queues) {
		msd_client_queue_refuse(
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link),
			MSD_REFUSED_ALL, why);
	}
	msd_reject_reason_unref(why);
	msd_diag_finish(&d);
	go_on(group);
}

static bool is_of(const struct msd_client *c, struct msd_peer_id who)
{
	return who.kind == MSD_PEER_CONNECTION ? c->number == who.value
					       : msd_peer_id_is(c->peer, who);
}

void msd_refusal_begin_of(struct msd_worker_group *group, struct msd_peer_id who,
			  enum msd_refused what, const struct msd_diag *d)
{
	struct msd_reject_reason *why = msd_reject_reason_new(d);

	MSD_LIST_EACH (it, &group->all_client_queues) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link);
		if (is_of(client_queue->client, who))
			msd_client_queue_refuse(client_queue, what, why);
	}
	msd_reject_reason_unref(why);
	go_on(group);
}

void msd_refusal_begin_late(struct msd_worker_group *group)
{
	MSD_LIST_EACH (it, &group->all_client_queues) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link);
		msd_client_queue_look_again(client_queue);
		msd_client_queue_refuse(client_queue, MSD_REFUSED_LATE, NULL);
	}
	go_on(group);
}

void msd_refusal_end_late(struct msd_worker_group *group)
{
	MSD_LIST_EACH_SAFE (it, &group->refused) {
		struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, link);
		if (client_queue->refused == MSD_REFUSED_LATE)
			msd_client_queue_serve(client_queue);
	}
}
