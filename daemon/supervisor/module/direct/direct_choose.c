/*
 * Select the worker for a direct channel. Happy path: take the open worker with the
 * fewest channels. Failures: the worker, or one of its users, has the maximum. A
 * channel that was unused for a while is taken back for the next client that asks.
 */
#include "daemon/limits.h"
#include "daemon/segments/ledger.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/workers/replica.h"

static struct msd_direct *direct_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_direct, link);
}

uint64_t msd_direct_bytes(const struct msd_limits *limits)
{
	const uint64_t share = limits->max_memory / MSD_MAX_GUESTS;
	const uint64_t most = share < MSD_DIRECT_BYTES ? share : MSD_DIRECT_BYTES;

	return most < limits->max_payload ? most : limits->max_payload;
}

static uint32_t count(const struct msd_process *p)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &p->directs) {
		n++;
	}
	return n;
}

static uint32_t count_of(const struct msd_process *p, struct msd_peer_id who)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &p->directs) {
		n += msd_peer_id_is(direct_of(it)->who, who);
	}
	return n;
}

/* Take back the channel, of @who unless NULL, that was unused for the longest time. */
static void give_up_unused(struct msd_process *p, const struct msd_peer_id *who)
{
	struct msd_direct *oldest = NULL;

	MSD_LIST_EACH (it, &p->directs) {
		struct msd_direct *x = direct_of(it);

		if (x->is_ending || (who != NULL && !msd_peer_id_is(x->who, *who)))
			continue;
		if (oldest == NULL || x->used_ms < oldest->used_ms)
			oldest = x;
	}
	if (oldest != NULL &&
	    oldest->used_ms + MSD_DIRECT_UNUSED_MS <= uv_now(p->registry->loop))
		msd_direct_end(oldest);
}

/* Check that @p has room for one more channel, for @who. */
static msd_err check_room(struct msd_process *p, const char *name,
			  struct msd_peer_id who, struct msd_diag *d)
{
	const uint64_t most = p->registry->limits->max_directs;
	const uint64_t most_of_one = (most + 1) / 2;

	if (msd_direct_free_number(p) == 0 || count(p) >= most) {
		give_up_unused(p, NULL);
		return msd_diag_set(
			d, MSD_BUSY,
			"channel.open: each worker of module %s has %u direct "
			"channels, the maximum (max-directs, %u at most)",
			name, count(p), MSD_MAX_GUESTS);
	}
	if (count_of(p, who) < most_of_one)
		return MSD_OK;
	give_up_unused(p, &who);
	return msd_diag_set(d, MSD_BUSY,
			    "channel.open: a worker of module %s has %llu direct "
			    "channels of one user, the maximum (half of max-directs): "
			    "close one, or send the calls to the daemon",
			    name, (unsigned long long)most_of_one);
}

struct msd_process *msd_direct_choose(const struct msd_worker_group *group,
				      struct msd_peer_id who, struct msd_diag *d)
{
	struct msd_process *best = NULL;

	for (uint32_t i = 0; i < group->n_replicas; i++) {
		const struct msd_replica *rep = &group->replicas[i];
		if (!rep->is_open || rep->ended_for != MSD_RUN_GOES_ON ||
		    !msd_process_is_running(rep->process) ||
		    msd_conn_is_closing(&rep->process->channel))
			continue;
		if (best == NULL || count(rep->process) < count(best))
			best = rep->process;
	}
	if (best == NULL) {
		(void)msd_diag_set(d, MSD_NOT_READY,
				   "channel.open: module %s is not ready", group->name);
	} else if (check_room(best, group->name, who, d) != MSD_OK) {
		best = NULL;
	}
	return best;
}

/* Waiting clients, each once. */
struct some {
	const struct msd_client *who[MSD_DIRECT_CROWD + 1];
	uint32_t n;
};

static void add(struct some *some, const struct msd_client *who)
{
	if (who == NULL || some->n > MSD_DIRECT_CROWD)
		return;
	for (uint32_t i = 0; i < some->n; i++) {
		if (some->who[i] == who)
			return;
	}
	some->who[some->n++] = who;
}

static void add_sent(struct some *some, const struct msd_replica *rep)
{
	MSD_LIST_EACH (it, &rep->sent) {
		add(some, MSD_CONTAINER_OF(it, struct msd_req, link)->client.who);
	}
}

bool msd_direct_is_crowded(const struct msd_worker_group *group)
{
	struct some queued = {.n = 0};

	/* Queued requests wait for every worker. */
	MSD_LIST_EACH (it, &group->all_client_queues) {
		const struct msd_client_queue *client_queue =
			MSD_CONTAINER_OF(it, struct msd_client_queue, all_link);
		if (client_queue->n_requests > 0)
			add(&queued, client_queue->client);
	}
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		struct some some = queued;

		add_sent(&some, &group->replicas[i]);
		if (some.n > MSD_DIRECT_CROWD)
			return true;
	}
	return false;
}
