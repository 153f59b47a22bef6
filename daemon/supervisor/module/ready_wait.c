#include "daemon/supervisor/module/ready_wait.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/refusal.h"

/*
 * Happy path: a worker opens before the wait is over, and queued requests are sent; a
 * request that still has a ready deadline ignores it. Failures: no worker opens, and
 * late requests are answered. If the module served in between, earlier requests start
 * a new wait.
 */

static void on_due(struct msd_deadline *node)
{
	struct msd_crew *crew = MSD_CONTAINER_OF(node, struct msd_crew, ready_timer);

	if (!crew->is_serving)
		msd_refusal_begin_late(crew);
}

void msd_ready_wait_begin(struct msd_crew *crew)
{
	if (crew->is_waiting)
		return;
	crew->is_waiting = true;
	crew->ready_timer.on_due = on_due;
	msd_deadline_set(crew->house->deadlines, &crew->ready_timer,
			 crew->house->limits->ready_wait_ms);
}

void msd_ready_wait_end(struct msd_crew *crew)
{
	crew->is_waiting = false;
	msd_deadline_clear(crew->house->deadlines, &crew->ready_timer);
	msd_refusal_end_late(crew);
}

bool msd_ready_wait_is_late(const struct msd_req *r)
{
	const struct msd_crew *crew = r->at.lane->crew;

	return crew->is_waiting && !crew->is_serving &&
	       !msd_deadline_is_set(&crew->ready_timer) &&
	       !msd_deadline_is_set(&r->due.node);
}

void msd_ready_wait_refuse(struct msd_req *r)
{
	r->due.is_for_ready = true;
	msd_req_set_due(r, r->at.lane->crew->house->deadlines, 0);
	msd_req_take(r, MSD_REQ_DUE);
}

void msd_ready_wait_set(struct msd_req *r)
{
	const struct msd_house *house = r->at.lane->crew->house;

	if (msd_deadline_is_set(&r->due.node))
		return;
	r->due.is_for_ready = true;
	msd_req_set_due(r, house->deadlines, house->limits->ready_wait_ms);
}

bool msd_ready_wait_is_over(struct msd_req *r)
{
	const struct msd_crew *crew = r->at.lane->crew;
	const uint64_t left_ms =
		msd_deadline_left(crew->house->deadlines, &crew->ready_timer);

	if (crew->is_serving) {
		r->due.is_for_ready = false;
		return false;
	}
	if (left_ms > 0)
		msd_req_set_due(r, crew->house->deadlines, left_ms);
	return left_ms == 0;
}

void msd_ready_wait_clear(struct msd_req *r)
{
	if (!r->due.is_for_ready)
		return;
	r->due.is_for_ready = false;
	msd_deadline_clear(r->due.all, &r->due.node);
}
