#include "daemon/supervisor/module/queue/ready_timeout.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/bulk_reject.h"
#include "daemon/supervisor/module/queue/client_queue.h"

/*
 * Happy path: a worker opens before the wait is over, and queued requests are sent; a
 * request that still has a ready deadline ignores it. Failures: no worker opens, and
 * late requests are answered. If the module served in between, earlier requests start
 * a new wait.
 */

static void on_due(struct msd_deadline *node)
{
	struct msd_worker_group *group =
		MSD_CONTAINER_OF(node, struct msd_worker_group, ready_timer);

	if (!group->is_serving)
		msd_refusal_begin_late(group);
}

void msd_ready_timeout_begin(struct msd_worker_group *group)
{
	if (group->is_waiting)
		return;
	group->is_waiting = true;
	group->ready_timer.on_due = on_due;
	msd_deadline_set(group->registry->deadlines, &group->ready_timer,
			 group->registry->limits->ready_wait_ms);
}

void msd_ready_timeout_end(struct msd_worker_group *group)
{
	group->is_waiting = false;
	msd_deadline_clear(group->registry->deadlines, &group->ready_timer);
	msd_refusal_end_late(group);
}

bool msd_ready_timeout_is_late(const struct msd_req *r)
{
	const struct msd_worker_group *group = r->at.client_queue->group;

	return group->is_waiting && !group->is_serving &&
	       !msd_deadline_is_set(&group->ready_timer) &&
	       !msd_deadline_is_set(&r->due.node);
}

void msd_ready_timeout_refuse(struct msd_req *r)
{
	r->due.is_for_ready = true;
	msd_req_set_due(r, r->at.client_queue->group->registry->deadlines, 0);
	msd_req_apply(r, MSD_REQ_DUE);
}

void msd_ready_timeout_set(struct msd_req *r)
{
	const struct msd_module_registry *registry =
		r->at.client_queue->group->registry;

	if (msd_deadline_is_set(&r->due.node))
		return;
	r->due.is_for_ready = true;
	msd_req_set_due(r, registry->deadlines, registry->limits->ready_wait_ms);
}

bool msd_ready_timeout_is_over(struct msd_req *r)
{
	const struct msd_worker_group *group = r->at.client_queue->group;
	const uint64_t left_ms =
		msd_deadline_left(group->registry->deadlines, &group->ready_timer);

	if (group->is_serving) {
		r->due.is_for_ready = false;
		return false;
	}
	if (left_ms > 0)
		msd_req_set_due(r, group->registry->deadlines, left_ms);
	return left_ms == 0;
}

void msd_ready_timeout_clear(struct msd_req *r)
{
	if (!r->due.is_for_ready)
		return;
	r->due.is_for_ready = false;
	msd_deadline_clear(r->due.all, &r->due.node);
}
