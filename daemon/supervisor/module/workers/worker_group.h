#ifndef MSD_SUPERVISOR_WORKER_GROUP_H
#define MSD_SUPERVISOR_WORKER_GROUP_H
/*
 * Worker group: the workers of a module and their shared state. It holds their start
 * options, the segments of their arguments, the client queues that feed them, and
 * learned statistics. Replicas, channel, client queues and queue use only this part
 * of a module. They report events to the module through msd_worker_group_ops.
 */
#include "daemon/supervisor/module/life/life_table.h"
#include "daemon/supervisor/module/queue/blame.h"
#include "daemon/supervisor/module/queue/peer_latency.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/facts.h"
#include "daemon/supervisor/module/workers/run_limit.h"
#include "daemon/supervisor/module/workers/shared_weights.h"
#include "daemon/supervisor/request/request.h"
#include "daemon/supervisor/source/source.h"
#include "proto/base/spin.h"
#include "proto/words/run_options.h"

struct msd_worker_group;
struct msd_call_stats;

struct msd_worker_group_ops {
	/** A request about the group was created; the owner of the group takes it. */
	void (*adopt)(struct msd_worker_group *group, struct msd_req *r);
	/** A worker has opened the artifact; its facts are stored. */
	void (*on_opened)(struct msd_replica *rep);
	/** A worker did not open the artifact, for this cause. */
	void (*on_blamed)(struct msd_worker_group *group, msd_err err,
			  const char *text);
	/** A worker has answered, and has room. */
	void (*on_answered)(struct msd_worker_group *group);
	/** No client gets the objects in an answer of a worker: it must free them. */
	void (*free_objects)(struct msd_replica *rep,
			     const struct msd_reply_object *objects, uint32_t n);
	/**
	 * A worker is gone, and its requests are answered. If it died by itself,
	 * @blame is the origin of the call that it ran. May free the module.
	 */
	void (*on_lost)(struct msd_replica *rep, enum msd_loss loss,
			const struct msd_blame *blame, const char *how);
	/** All requests that were to be refused are answered. May free the module. */
	void (*on_refused)(struct msd_worker_group *group);
	/**
	 * Queue a QUEUED request at the module that has replaced this one. False: it
	 * was not replaced, or @r cannot move and is unchanged. Optional.
	 */
	bool (*pass_on)(struct msd_worker_group *group, struct msd_req *r);
	/** The request that its worker has run for @ran_ms must stop, for @why. */
	void (*on_overran)(struct msd_replica *rep, const struct msd_blame *blame,
			   enum msd_run_end why, uint64_t ran_ms);
	/** The ledger of a worker's direct channels was read. */
	void (*on_ledger)(struct msd_replica *rep);
	/** A worker wrote to standard output or error. */
	void (*on_output)(struct msd_worker_group *group, const char *bytes, size_t n);
};

/* Workers were terminated for long requests, and no worker has answered since. */
struct msd_silence {
	bool is_on;
	uint64_t n_answered; /* at the begin; lasts while this number is unchanged */
	uint64_t since_ms;
};

struct msd_worker_group {
	const struct msd_worker_group_ops *ops;
	struct msd_module_registry *registry;
	char *name;
	char *file;               /* label for error texts and logs */
	struct msd_source source; /* no file until the source has arrived */
	bool is_source_kept;      /* owned by handover_artifact.c */
	bool is_stored;           /* an edition of the store, with its options */
	struct msd_shared_weights weights;
	struct msd_run_options run;
	struct msd_silence silence; /* owned by busy.c */
	struct msd_segpool in;
	struct msd_replica *replicas;                /* n_replicas, at least 1 */
	struct msd_worker_selection_worker *choices; /* n_replicas; owned by queue.c */
	uint32_t n_replicas;
	bool is_serving; /* queued requests may be sent */
	struct msd_list
		client_queues; /* msd_client_queue.link: without a home, in turn */
	struct msd_list
		background;    /* msd_client_queue.link; sent when the rest is empty */
	uint32_t n_foreground; /* other requests sent while the background waited */
	struct msd_list
		refused; /* msd_client_queue.link: queues with requests being refused */
	struct msd_task refusal;         /* owned by bulk_reject.c */
	struct msd_deadline ready_timer; /* owned by ready_timeout.c */
	bool is_waiting; /* no worker has served since the timer was set */
	struct msd_list all_client_queues; /* msd_client_queue.all_link */
	uint32_t n_queued;                 /* requests in client queues */
	uint64_t queued_us;                /* expected time of these requests */
	struct msd_latency_estimate pace;  /* for all peers together */
	struct msd_peer_latencies paces;   /* of each peer */
	struct msd_facts facts;            /* reported by the worker that opened last */
	uint64_t n_calls;
	uint64_t n_errors; /* not those that callers can avoid */
	uint64_t n_failed; /* errors raised by the module's code: CALL_FAILED */
	uint64_t n_lost;   /* errors of calls without an answer */
	struct msd_times stages[MSD_STAGE_COUNT]; /* of its calls */
	struct msd_spin_count spun; /* by its workers, for calls on direct channels */
	struct msd_call_stats *call_stats; /* reference; belongs to the module's name */
};

/**
 * Return the expected microseconds of @r, if it is a call of @c (or NULL). Uses the
 * calls of its peer or, if there are none, those of all peers. 0: not a call, or
 * never seen.
 */
static inline uint32_t msd_worker_group_expect_us(const struct msd_worker_group *group,
						  const struct msd_client *c,
						  const struct msd_req *r)
{
	if (r->method != MSD_M_CALL)
		return 0;
	const uint32_t us = group->paces.n > 0 && c != NULL
				    ? msd_peer_latencies_expect(&group->paces, c->peer,
								r->at.function)
				    : 0;

	return us > 0 ? us : msd_latency_estimate_expect(&group->pace, r->at.function);
}
/**
 * Note a call that took @exec_ns. The first call is often a hundred times slower than
 * later ones.
 */
static inline void msd_worker_group_note_pace(struct msd_worker_group *group,
					      const struct msd_client *c,
					      uint8_t function, uint64_t exec_ns)
{
	if (c != NULL &&
	    (group->paces.n > 0 || (group->pace.n[function] > 1 &&
				    exec_ns / 1000 >= MSD_PEER_LATENCY_LEAST_US)))
		msd_peer_latencies_note(&group->paces, c->peer, function, exec_ns);
	msd_latency_estimate_note(&group->pace, function, exec_ns);
}
/** Count @n calls that were lost with their worker. */
static inline void msd_worker_group_lose(struct msd_worker_group *group, uint64_t n)
{
	group->n_calls += n;
	group->n_errors += n;
	group->n_lost += n;
}
/**
 * Number of answered calls, which show the quality of the code. Deaths are judged
 * separately.
 */
static inline uint64_t msd_worker_group_answered(const struct msd_worker_group *group)
{
	return group->n_calls - group->n_lost;
}

#endif
