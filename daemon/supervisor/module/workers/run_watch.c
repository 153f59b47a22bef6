/*
 * Happy path: a worker is busy, and its request may continue; check again when that
 * may change. Failures: the request must stop, and the worker is killed. If the
 * daemon itself was stopped meanwhile, that time does not count.
 */
#include "daemon/supervisor/module/workers/run_watch.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/workers/busy.h"

/* The request that a worker runs, or its call of a direct channel. */
struct running {
	const struct msd_req *request; /* or NULL */
	struct msd_direct_run direct;  /* empty if there is a request */
	struct msd_run_facts run;
	struct msd_blame blame;
};

static uint64_t now_of(const struct msd_replica *rep)
{
	return uv_now(rep->group->registry->loop);
}

/* A page of a plan is no call: it is short, so its own deadline is about the calls
 * before it, and no call is ended for it. */
static bool is_page(const struct msd_req *r)
{
	return r->method == MSD_M_MODULE_PLAN;
}

/* True if a sent call other than @r has a waiting client. */
static bool has_sent_others(const struct msd_replica *rep, const struct msd_req *r)
{
	MSD_LIST_EACH (it, &rep->sent) {
		const struct msd_req *other =
			MSD_CONTAINER_OF(it, struct msd_req, link);
		if (other != r && other->client.who != NULL && !is_page(other))
			return true;
	}
	return false;
}

static bool has_queued(const struct msd_list *client_queues)
{
	MSD_LIST_EACH (it, client_queues) {
		const struct msd_client_queue *q =
			MSD_CONTAINER_OF(it, struct msd_client_queue, link);
		MSD_LIST_EACH (k, &q->requests) {
			if (!is_page(MSD_CONTAINER_OF(k, struct msd_req, link)))
				return true;
		}
	}
	return false;
}

/* They are queued for this worker, or for any. */
static bool keeps_others(const struct msd_replica *rep, const struct running *x)
{
	const struct msd_worker_group *group = rep->group;

	return has_queued(&rep->client_queues) || has_queued(&group->client_queues) ||
	       has_queued(&group->background) || has_sent_others(rep, x->request) ||
	       msd_direct_has_others(rep->process, x->direct.of);
}

static bool find_direct(const struct msd_replica *rep, struct running *ret)
{
	if (!msd_direct_find_run(rep->process, &ret->direct))
		return false;
	const struct msd_direct_run *d = &ret->direct;
	const struct msd_client *c = d->of->client;

	ret->run = (struct msd_run_facts){.ran_ms = d->ran_ms,
					  .left_ms = d->late_ms,
					  .is_left = d->is_late || c == NULL,
					  .is_over = d->is_late};
	if (!d->is_late && c == NULL)
		ret->run.left_ms = now_of(rep) - d->of->left_ms;
	ret->blame = d->blame;
	return true;
}

static bool find_sent(const struct msd_replica *rep, struct running *ret)
{
	const uint64_t now_ms = now_of(rep);

	if (msd_list_is_empty(&rep->sent))
		return false;
	const struct msd_req *r =
		MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link);
	ret->request = r;
	ret->run = (struct msd_run_facts){
		.ran_ms = msd_busy_ran_ms(rep, now_ms),
		.left_ms = r->at.left_ms != 0 ? now_ms - r->at.left_ms : 0,
		.usual_ms = msd_worker_group_expect_us(rep->group, NULL, r) / 1000,
		.is_left = r->at.left_ms != 0,
		.is_over = r->state == MSD_REQ_ABANDONED && !is_page(r)};
	if (!is_page(r))
		ret->blame = msd_blame_of(r);
	return true;
}

/* True if an abandoned request was sent to the worker. */
static bool has_left(const struct msd_replica *rep)
{
	MSD_LIST_EACH (it, &rep->sent) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->at.left_ms != 0)
			return true;
	}
	return false;
}

void msd_run_watch_look(struct msd_replica *rep)
{
	const struct msd_limits *limits = rep->group->registry->limits;
	const struct msd_run_terms terms = {
		.most_ms = msd_given_ms_or(rep->group->run.max_run, limits->max_run_ms),
		.grace_ms = limits->kill_grace_ms};
	struct running x = {0};
	uint64_t again_ms;

	if (!rep->is_open || rep->process == NULL || rep->ended_for != MSD_RUN_GOES_ON)
		return;
	if (!find_direct(rep, &x) && !find_sent(rep, &x))
		return;
	x.run.keeps_others = x.run.is_left && keeps_others(rep, &x);
	const enum msd_run_end end = msd_run_judge(&x.run, &terms, &again_ms);
	if (end != MSD_RUN_GOES_ON) {
		rep->group->ops->on_overran(rep, &x.blame, end, x.run.ran_ms);
		return;
	}
	if (again_ms > MSD_RUN_LOOK_MS && has_left(rep) && !x.run.is_left)
		again_ms = MSD_RUN_LOOK_MS; /* it may be next at any time */
	msd_run_watch_in(rep, again_ms);
}

static void on_look(struct msd_deadline *node)
{
	struct msd_replica *rep = MSD_CONTAINER_OF(node, struct msd_replica, run_timer);
	const uint64_t away_ms =
		msd_deadline_away_ms(rep->group->registry->deadlines, node);

	if (away_ms > 0) { /* its answer may be unread */
		rep->head_since_ms += away_ms;
		msd_run_watch_in(rep, MSD_RUN_LOOK_MS);
		return;
	}
	msd_run_watch_look(rep);
}

void msd_run_watch_in(struct msd_replica *rep, uint64_t in_ms)
{
	struct msd_deadlines *all = rep->group->registry->deadlines;

	if (msd_deadline_is_set(&rep->run_timer) &&
	    msd_deadline_left(all, &rep->run_timer) <= in_ms)
		return;
	rep->run_timer.on_due = on_look;
	msd_deadline_set(all, &rep->run_timer, in_ms);
}
