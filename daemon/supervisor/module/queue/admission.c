#include "daemon/supervisor/module/queue/admission.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/workers/busy.h"

/*
 * Happy path: all requests together would finish in time, and no closer check is
 * needed. Otherwise sum up the sent requests and the shares of the client queues.
 * Failures: the call would be late or wait longer than the daemon allows; the client
 * gets MSD_BUSY with the time of a retry.
 */

/* Calls of other peers do not predict this one: a peer without past calls is not
 * refused because of them. */
static uint64_t own_us(const struct msd_worker_group *group, const struct msd_req *r)
{
	return group->paces.n > 0 && r->method == MSD_M_CALL && r->client.who != NULL
		       ? msd_peer_latencies_expect(&group->paces, r->client.who->peer,
						   r->at.function)
		       : msd_worker_group_expect_us(group, r->client.who, r);
}

/* Subtract the time that the running request has already run. A request that runs
 * longer than ever counts as almost done. */
static uint64_t sent_us(const struct msd_replica *rep, uint64_t now_ms)
{
	uint64_t ran_us = msd_busy_ran_ms(rep, now_ms) * 1000;
	uint64_t sum = 0;

	MSD_LIST_EACH (it, &rep->sent) {
		const struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		const uint64_t us =
			msd_worker_group_expect_us(rep->group, r->client.who, r);

		sum += us > ran_us ? us - ran_us : 0;
		ran_us = 0;
	}
	return sum;
}

/* Client queues take turns: from each other queue, as many requests are ahead as from
 * the own queue, plus one. */
static uint64_t queued_us(const struct msd_list *client_queues,
			  const struct msd_client_queue *own, const struct msd_req *r)
{
	const struct msd_overtaken behind = own != NULL
						    ? msd_client_queue_overtaken(own, r)
						    : (struct msd_overtaken){0};
	const uint64_t n = own != NULL ? own->n_requests - behind.n + 1 : 1;
	uint64_t sum = 0;

	MSD_LIST_EACH (it, client_queues) {
		const struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, link);

		if (client_queue == own) {
			sum += client_queue->queued_us - behind.us;
		} else {
			sum += client_queue->n_requests <= n
				       ? client_queue->queued_us
				       : client_queue->queued_us /
						 client_queue->n_requests * n;
		}
	}
	return sum;
}

/* The time until the first worker is free. */
static uint64_t least_sent_us(const struct msd_worker_group *group, uint64_t now_ms)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < group->n_replicas; i++) {
		const struct msd_replica *rep = &group->replicas[i];
		const uint64_t us = rep->is_open && !msd_replica_is_stuck(rep)
					    ? sent_us(rep, now_ms)
					    : UINT64_MAX;

		least = us < least ? us : least;
	}
	return least < UINT64_MAX ? least : 0;
}

/* As in queue.c: a request that needs no order goes to any worker. */
static bool needs_home(const struct msd_req *r)
{
	return !r->at.is_unordered || r->at.needs != NULL;
}

struct msd_backlog msd_backlog_of(const struct msd_worker_group *group,
				  const struct msd_req *r, uint64_t now_ms)
{
	const struct msd_client_queue *own =
		r->client.who != NULL ? msd_client_queue_find(r->client.who, group)
				      : NULL;
	struct msd_backlog b = {.own_us = own_us(group, r)};

	if (own != NULL && own->home != NULL && needs_home(r)) {
		b.ahead_us = sent_us(own->home, now_ms) +
			     queued_us(&own->home->client_queues, own, r);
		return b;
	}
	b.ahead_us = queued_us(&group->client_queues, own, r);
	if (r->at.is_background) {
		b.ahead_us += queued_us(
			&group->background,
			msd_client_queue_find_kind(r->client.who, group,
						   MSD_CLIENT_QUEUE_BACKGROUND),
			r);
	}
	if (group->n_replicas > 1)
		b.ahead_us /= group->n_replicas;
	b.ahead_us += least_sent_us(group, now_ms);
	return b;
}

/* In time in any order of execution. */
static bool is_surely_in_time(const struct msd_worker_group *group,
			      const struct msd_req *r, uint64_t left_us)
{
	uint64_t all_us = group->queued_us + 2 * own_us(group, r);

	for (uint32_t i = 0; i < group->n_replicas; i++)
		all_us += group->replicas[i].ahead_us;
	return all_us <= left_us;
}

static uint64_t longest_wait_us(const struct msd_worker_group *group)
{
	const uint64_t ms = group->registry->limits->max_wait_ms;

	return ms > 0 ? ms * 1000 : UINT64_MAX;
}

/* The call cannot finish in time even with an empty queue. */
static bool is_hopeless(struct msd_backlog b, uint64_t left_us)
{
	return b.own_us > left_us;
}

static void explain(const struct msd_worker_group *group, struct msd_backlog b,
		    uint64_t allowed_us, bool is_late, struct msd_diag *d)
{
	const unsigned long long ahead_ms = (b.ahead_us + 999) / 1000;
	const unsigned long long own_ms = (b.own_us + 999) / 1000;
	const unsigned long long allowed_ms = allowed_us / 1000;

	if (is_late && is_hopeless(b, allowed_us)) {
		(void)msd_diag_set(d, MSD_BUSY,
				   "module %s: this call alone takes about %llu ms, "
				   "but its deadline is in %llu ms: give it more time "
				   "(calls ahead of it take about %llu ms)",
				   group->name, own_ms, allowed_ms, ahead_ms);
		return;
	}
	if (!is_late) {
		(void)msd_diag_set(d, MSD_BUSY,
				   "module %s: the calls ahead of this one take about "
				   "%llu ms, longer than %llu ms (max-wait)",
				   group->name, ahead_ms, allowed_ms);
		return;
	}
	(void)msd_diag_set(d, MSD_BUSY,
			   "module %s: the calls ahead of this one take about %llu ms, "
			   "the call itself about %llu ms (it needs twice that), but "
			   "its deadline is in %llu ms",
			   group->name, ahead_ms, own_ms, allowed_ms);
}

bool msd_admission_refuse(const struct msd_worker_group *group, struct msd_req *r)
{
	const uint64_t now_ms = uv_now(group->registry->loop);
	const uint64_t due_ms = r->due.node.at_ms;
	const uint64_t left_us = due_ms > now_ms ? (due_ms - now_ms) * 1000 : 0;
	const uint64_t wait_us = longest_wait_us(group);
	struct msd_diag d = {0};

	/* If the deadline has passed, the deadline timer answers in this loop
	 * iteration. */
	if (left_us == 0 ||
	    is_surely_in_time(group, r, wait_us < left_us ? wait_us : left_us))
		return false;
	const struct msd_backlog b = msd_backlog_of(group, r, now_ms);
	const uint64_t late_us = msd_backlog_late_us(b, left_us);
	const uint64_t over_us = b.ahead_us > wait_us ? b.ahead_us - wait_us : 0;
	if (late_us == 0 && over_us == 0)
		return false;
	explain(group, b, late_us > 0 ? left_us : wait_us, late_us > 0, &d);
	if (late_us == 0 || !is_hopeless(b, left_us)) { /* else a retry is useless */
		d.retry_after_ms =
			((late_us > over_us ? late_us : over_us) + 999) / 1000;
	}
	msd_req_refuse_for(r, &d);
	msd_diag_finish(&d);
	return true;
}
