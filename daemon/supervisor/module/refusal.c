#include "daemon/supervisor/module/refusal.h"

#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/queue.h"
#include "daemon/supervisor/module/ready_wait.h"
#include "daemon/supervisor/module/why.h"

/*
 * Happy path: client queues with requests to refuse are withheld. Each on_due()
 * checks one request. When a queue is checked, it is served again with its passed
 * requests. Failures: no memory for the reason; the answers then say MSD_NOMEM.
 */

static struct msd_lane *first_lane(struct msd_crew *crew)
{
	struct msd_list *it = msd_list_first(&crew->refused);

	return it != NULL ? MSD_CONTAINER_OF(it, struct msd_lane, link) : NULL;
}

/* After its last request @lane is served again, and the reason may be freed. */
static void refuse_first(struct msd_lane *lane)
{
	struct msd_why *why = msd_why_ref(lane->why);

	msd_why_refuse(why, msd_lane_first(lane));
	msd_why_unref(why);
}

static bool is_refused(const struct msd_lane *lane, const struct msd_req *r)
{
	return lane->refused == MSD_REFUSED_ALL ||
	       (lane->refused == MSD_REFUSED_ASKED && r->client.who != NULL) ||
	       (lane->refused == MSD_REFUSED_DEADLY && msd_req_may_kill(r));
}

static void look_at_one(struct msd_lane *lane)
{
	struct msd_crew *crew = lane->crew;

	if (msd_list_is_empty(&lane->requests)) {
		msd_lane_serve(lane);
		msd_queue_pump(crew);
	} else if (is_refused(lane, msd_lane_first(lane))) {
		refuse_first(lane);
	} else if (msd_ready_wait_is_late(msd_lane_first(lane))) {
		msd_ready_wait_refuse(msd_lane_first(lane));
	} else {
		msd_lane_pass(lane);
	}
}

static void on_due(struct msd_deadline *node);

static void go_on(struct msd_crew *crew)
{
	if (msd_list_is_empty(&crew->refused))
		return;
	crew->refusal_timer.on_due = on_due;
	msd_deadline_set(crew->house->deadlines, &crew->refusal_timer, 0);
}

static void on_due(struct msd_deadline *node)
{
	struct msd_crew *crew = MSD_CONTAINER_OF(node, struct msd_crew, refusal_timer);
	struct msd_lane *lane = first_lane(crew);

	if (lane != NULL)
		look_at_one(lane);
	if (msd_list_is_empty(&crew->refused)) {
		crew->ops->on_refused(crew);
	} else {
		go_on(crew);
	}
}

void msd_refusal_begin(struct msd_crew *crew, msd_err err, const char *text)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, err, "%s", text);
	struct msd_why *why = msd_why_new(&d);

	MSD_LIST_EACH (it, &crew->all_lanes) {
		msd_lane_refuse(MSD_CONTAINER_OF(it, struct msd_lane, all_link),
				MSD_REFUSED_ALL, why);
	}
	msd_why_unref(why);
	msd_diag_finish(&d);
	go_on(crew);
}

static bool is_of(const struct msd_client *c, struct msd_peer_id who)
{
	return who.kind == MSD_PEER_CONNECTION ? c->number == who.value
					       : msd_peer_id_is(c->peer, who);
}

void msd_refusal_begin_of(struct msd_crew *crew, struct msd_peer_id who,
			  enum msd_refused what, const struct msd_diag *d)
{
	struct msd_why *why = msd_why_new(d);

	MSD_LIST_EACH (it, &crew->all_lanes) {
		struct msd_lane *lane = MSD_CONTAINER_OF(it, struct msd_lane, all_link);
		if (is_of(lane->client, who))
			msd_lane_refuse(lane, what, why);
	}
	msd_why_unref(why);
	go_on(crew);
}

void msd_refusal_begin_late(struct msd_crew *crew)
{
	MSD_LIST_EACH (it, &crew->all_lanes) {
		struct msd_lane *lane = MSD_CONTAINER_OF(it, struct msd_lane, all_link);
		msd_lane_look_again(lane);
		msd_lane_refuse(lane, MSD_REFUSED_LATE, NULL);
	}
	go_on(crew);
}

void msd_refusal_end_late(struct msd_crew *crew)
{
	MSD_LIST_EACH_SAFE (it, &crew->refused) {
		struct msd_lane *lane = MSD_CONTAINER_OF(it, struct msd_lane, link);
		if (lane->refused == MSD_REFUSED_LATE)
			msd_lane_serve(lane);
	}
}
