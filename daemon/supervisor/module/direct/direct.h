#ifndef MSD_SUPERVISOR_DIRECT_H
#define MSD_SUPERVISOR_DIRECT_H
/*
 * Direct channels from clients to a module's workers. The supervisor makes a pair of
 * sockets: the worker gets one end with the permitted functions, the client gets the
 * other. From then on the supervisor takes no part in the calls, except to end them.
 * It reads what the worker reports about them (daemon/segments/ledger.h), terminates
 * the worker for a call that overran, and takes channels back.
 *
 *   (none) --open--> OPEN --end--> ENDING --the worker confirms--> (none)
 *                     '------ the client, the worker's end ---------^
 *
 * The supervisor keeps the worker's end open, too. To take a channel back it shuts
 * that end down, and the kernel accepts no more data. Requests that were sent before
 * are answered. So the client learns of a worker's death when the supervisor does,
 * not before.
 */
#include "daemon/supervisor/module/queue/blame.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/request.h"

struct msd_limits;
struct msd_lost;
struct msd_module_registry;
struct msd_worker_group;

/* For one channel; with its share of `bytes`, the worker's storage for it. */
#define MSD_DIRECT_REQUESTS 256u
#define MSD_DIRECT_BYTES (16u << 20)
/*
 * A worker gives the supervisor four turns for each turn of a channel
 * (daemon/worker/fair_queue.h). If more than this number of clients wait for a worker
 * through the supervisor, all clients go through the supervisor.
 */
#define MSD_DIRECT_CROWD 4u

struct msd_direct {
	struct msd_list link;        /* msd_process.directs */
	struct msd_list all_link;    /* msd_module_registry.directs */
	struct msd_list client_link; /* msd_client.directs */
	struct msd_process *process;
	struct msd_client *client; /* notified of its worker's death; NULL: gone */
	struct msd_peer_id who;
	int fd;          /* owned: the worker's end */
	uint16_t number; /* the worker's name for the channel */
	bool is_ending;
	uint64_t n_calls; /* calls of that number, as reported by the worker */
	uint64_t used_ms; /* loop time of the last change of n_calls */
	uint64_t left_ms; /* without a client: loop time since when */
};

static inline struct msd_direct *msd_direct_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_direct, link);
}
/** Return the channel of the process with @number, or NULL. */
static inline struct msd_direct *msd_direct_find(const struct msd_process *p,
						 uint64_t number)
{
	MSD_LIST_EACH (it, &p->directs) {
		if (msd_direct_of(it)->number == number)
			return msd_direct_of(it);
	}
	return NULL;
}

/* Parameters of a channel that its client gets. */
struct msd_direct_terms {
	uint64_t requests, bytes;
	uint64_t pid; /* of the worker */
};

/**
 * Open a channel for @c to a worker of @group, for the functions in @functions, an
 * array of msgpack strings; NULL: all functions. *@ret_fd is the client's end.
 * Errors: MSD_NOT_READY, MSD_UNSUPPORTED (its calls are joined), MSD_BUSY (too many
 * channels, or a client watches single calls), MSD_IO, MSD_NO_SPACE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_direct_open(struct msd_worker_group *group,
				       struct msd_client *c,
				       const struct msd_buf *functions,
				       struct msd_direct_terms *ret_terms, int *ret_fd,
				       struct msd_diag *d);
/** Take back all channels, those of a module (false: it has none), or of a client. */
void msd_direct_end_all(struct msd_module_registry *registry);
bool msd_direct_end_group(struct msd_worker_group *group);
void msd_direct_end_client(struct msd_client *c);
/** Take all channels back, and give none for a while: a client watches single calls. */
void msd_direct_hold_off(struct msd_module_registry *registry);
/** Take back one channel. */
void msd_direct_end(struct msd_direct *x);

/**
 * Handle worker.peer from the worker: a channel is gone. False: the worker broke the
 * protocol.
 */
MSD_MUST_CHECK bool msd_direct_reap(struct msd_process *p, const struct msd_in *in);
/** Drop all channels of a lost process, which its replica still holds. */
void msd_direct_lose(struct msd_process *p, const struct msd_lost *lost);

/* direct_admit.c */
/**
 * Select the open worker of @group with the fewest channels that has room for one of
 * @who. NULL: none may be opened, for the cause in @d; an unused channel is then taken
 * back. The errors are those of msd_direct_open().
 */
struct msd_process *msd_direct_admit(struct msd_worker_group *group,
				     struct msd_peer_id who, struct msd_diag *d);
/** True if more than MSD_DIRECT_CROWD clients per worker wait in the queue. */
bool msd_direct_is_crowded(const struct msd_worker_group *group);
/** Return the limit in bytes for the requests of one channel. */
uint64_t msd_direct_bytes(const struct msd_limits *limits);

/* direct_watch.c */
/**
 * Share a ledger with the worker; call it before the first channel. Errors:
 * MSD_NO_SPACE, MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_direct_share_ledger(struct msd_process *p,
					       struct msd_diag *d);
/** Read the ledger periodically while a channel exists. */
void msd_direct_watch(struct msd_process *p);
/**
 * True if requests sent to @p wait: the worker reports a running call of a channel,
 * or has just finished one and runs nothing. A number without a channel is ignored.
 */
bool msd_direct_is_ahead(const struct msd_process *p);
/**
 * True if @p runs a call of a channel that is long, or exceeded its deadline. A
 * request sent now gains nothing, and may be lost with the worker. Checks again soon.
 */
bool msd_direct_is_stuck(struct msd_process *p);
/** A worker reports that it runs a call of the channel `of`. */
struct msd_direct_run {
	const struct msd_direct *of;
	struct msd_blame blame;
	uint64_t ran_ms;
	uint64_t late_ms; /* since its deadline, if it is late */
	bool is_late;
};
/**
 * Find the channel call that @p runs. False: it runs none. The report is trusted only
 * for decisions about the worker itself.
 */
bool msd_direct_find_run(const struct msd_process *p, struct msd_direct_run *ret);
/**
 * True if an unanswered request was sent over a channel of @p other than @of (or
 * NULL).
 */
bool msd_direct_has_others(const struct msd_process *p, const struct msd_direct *of);
/** Note which clients have used their channels since the last time. */
void msd_direct_note_use(struct msd_process *p);
/** True if an unanswered request was sent over a channel of @c. */
bool msd_direct_is_awaited(const struct msd_client *c);
/**
 * Return the earliest loop time at which the current request of @p may have started;
 * 0: unknown.
 */
uint64_t msd_direct_since_ms(const struct msd_process *p);

/* direct_count.c */
/** Count the calls that @p has reported since the last time. */
void msd_direct_count(struct msd_process *p);
void msd_direct_count_all(struct msd_module_registry *registry);
/**
 * The same for a lost process, with its unfinished calls: @code is the result of
 * calls that waited.
 */
void msd_direct_count_last(struct msd_process *p, msd_err code);

#endif
