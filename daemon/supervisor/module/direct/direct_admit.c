/*
 * Admit a direct channel. Happy path: take the open worker with the fewest channels.
 * Failures: only the daemon can do what the module or a user needs; or the worker, or
 * one of its users, has the maximum. A channel that was unused for a while is taken
 * back for the next client that asks.
 */
#include "daemon/limits.h"
#include "daemon/loop/disabled_features.h"
#include "daemon/segments/ledger.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/workers/replica.h"

/* Shares of max_memory for all channels together, and for one user. */
#define PART_OF_ALL 2u
#define PART_OF_ONE 4u
#define LEAST_BYTES (64u << 10) /* of one channel */
/* A client without a call for this time may lose its channel to another client. */
#define UNUSED_MS 1000u

uint64_t msd_direct_bytes(const struct msd_limits *limits)
{
	const uint64_t share = limits->max_memory / MSD_MAX_GUESTS;
	const uint64_t most = share < MSD_DIRECT_BYTES ? share : MSD_DIRECT_BYTES;

	return most < limits->max_payload ? most : limits->max_payload;
}

/* Channels of @p, of @who unless NULL. */
static uint32_t count(const struct msd_process *p, const struct msd_peer_id *who)
{
	uint32_t n = 0;

	MSD_LIST_EACH (it, &p->directs) {
		n += who == NULL || msd_peer_id_is(msd_direct_of(it)->who, *who);
	}
	return n;
}

/* Take back the channel, of @who unless NULL, that was unused for the longest time. */
static void give_up_unused(struct msd_process *p, const struct msd_peer_id *who)
{
	struct msd_direct *oldest = NULL;

	MSD_LIST_EACH (it, &p->directs) {
		struct msd_direct *x = msd_direct_of(it);

		if (x->is_ending || (who != NULL && !msd_peer_id_is(x->who, *who)))
			continue;
		if (oldest == NULL || x->used_ms < oldest->used_ms)
			oldest = x;
	}
	if (oldest != NULL && oldest->used_ms + UNUSED_MS <= uv_now(p->registry->loop))
		msd_direct_end(oldest);
}

/* Check that @p has room for one more channel, for @who. */
static msd_err check_room(struct msd_process *p, const char *name,
			  struct msd_peer_id who, struct msd_diag *d)
{
	const uint64_t most = p->registry->limits->max_directs;
	const uint64_t most_of_one = (most + 1) / 2;
	const uint32_t n = count(p, NULL);

	if (n >= most || n >= MSD_MAX_GUESTS) {
		give_up_unused(p, NULL);
		return msd_diag_set(
			d, MSD_BUSY,
			"channel.open: each worker of module %s has %u direct "
			"channels, the maximum (max-directs, %u at most)",
			name, n, MSD_MAX_GUESTS);
	}
	if (count(p, &who) < most_of_one)
		return MSD_OK;
	give_up_unused(p, &who);
	return msd_diag_set(d, MSD_BUSY,
			    "channel.open: a worker of module %s has %llu direct "
			    "channels of one user, the maximum (half of max-directs): "
			    "close one, or send the calls to the daemon",
			    name, (unsigned long long)most_of_one);
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

static bool is_watched(const struct msd_module_registry *registry)
{
	return msd_waiters_are_there(&registry->call_log.followers) ||
	       uv_now(registry->loop) < registry->no_direct_until_ms;
}

static msd_err check(struct msd_worker_group *group, struct msd_diag *d)
{
	if (msd_feature_is_disabled("direct")) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: disabled by MODSERD_WITHOUT");
	}
	if (group->registry->limits->max_directs == 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: disabled (max-directs is off)");
	}
	if (msd_direct_bytes(group->registry->limits) < LEAST_BYTES) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: max-payload or max-memory leaves "
				    "less than %u bytes for a direct channel",
				    LEAST_BYTES);
	}
	if (group->registry->limits->max_wait_ms > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: only the daemon enforces max-wait: "
				    "send the calls to the daemon");
	}
	if (group->run.batch_rows > 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "channel.open: only the daemon joins calls of "
				    "module %s (batch): send the calls to the daemon",
				    group->name);
	}
	if (msd_direct_is_crowded(group)) {
		msd_direct_end_group(group);
		return msd_diag_set(
			d, MSD_BUSY,
			"channel.open: more than %u clients per worker wait for module "
			"%s at the daemon, which serves them in turn",
			MSD_DIRECT_CROWD, group->name);
	}
	if (is_watched(group->registry)) {
		return msd_diag_set(d, MSD_BUSY,
				    "channel.open: a client monitors the calls "
				    "(server.monitor): send them to the daemon now");
	}
	return MSD_OK;
}

/* All channels together may hold half of the tensor bytes of all requests, and one
 * user half of that, so that other requests have room. */
static msd_err check_bytes(const struct msd_module_registry *registry,
			   struct msd_peer_id who, struct msd_diag *d)
{
	const uint64_t bytes = msd_direct_bytes(registry->limits);
	uint64_t n_all = 1, n_own = 1;

	MSD_LIST_EACH (it, &registry->directs) {
		n_all++;
		n_own += msd_peer_id_is(
			MSD_CONTAINER_OF(it, struct msd_direct, all_link)->who, who);
	}
	if (n_all * bytes <= registry->limits->max_memory / PART_OF_ALL &&
	    n_own * bytes <= registry->limits->max_memory / PART_OF_ONE)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BUSY,
		"channel.open: direct channels may use half of --max-memory, and one "
		"user half of that: close one, or send the calls to the daemon");
}

struct msd_process *msd_direct_admit(struct msd_worker_group *group,
				     struct msd_peer_id who, struct msd_diag *d)
{
	struct msd_process *best = NULL;

	if (check(group, d) != MSD_OK || check_bytes(group->registry, who, d) != MSD_OK)
		return NULL;
	for (uint32_t i = 0; i < group->n_replicas; i++) {
		const struct msd_replica *rep = &group->replicas[i];
		if (!rep->is_open || rep->ended_for != MSD_RUN_GOES_ON ||
		    !msd_process_is_running(rep->process) ||
		    msd_conn_is_closing(&rep->process->channel))
			continue;
		if (best == NULL || count(rep->process, NULL) < count(best, NULL))
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
