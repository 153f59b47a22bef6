#ifndef MSD_SUPERVISOR_CALL_LOG_H
#define MSD_SUPERVISOR_CALL_LOG_H

/*
 * Call log: the latest calls of clients, with function, peer, result and the time of
 * each stage. It is always on, so the recent past can be read back. Calls are
 * numbered from the first one on. The registry has two logs: one has all calls, the
 * other slow ones with their arguments.
 *
 * Modules share the entries: when all are used, a module with fewer calls than others
 * takes the oldest entry of the module with the most, and every other call replaces
 * the oldest of its own module. Frequent calls thus never drop the calls of a module
 * that has less than its equal share.
 */

#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/waiters.h"

struct msd_call_stats;

#define MSD_LOGGED_CALLS 4096u
#define MSD_SLOW_CALLS 128u
#define MSD_CALL_LOG_BATCH_MS 20u /* minimum time between answers to followers */

struct msd_logged_call {
	uint64_t end_ns; /* by the clock of the wire */
	uint64_t spent_ns[MSD_STAGE_COUNT];
	struct msd_peer_id who;
	struct msd_call_stats *call_stats; /* a reference; has the module's name */
	uint8_t row;                       /* row of the statistics: the function */
	uint8_t code;                      /* an msd_err, or MSD_REQ_UNANSWERED */
};

/* An entry of the log. */
struct msd_call_slot {
	struct msd_logged_call call;
	uint64_t number;
	struct msd_list link; /* msd_call_log.calls */
	struct msd_call_slot
		*next;   /* newer call of the lane; the last one has the oldest */
	char *arguments; /* owned; NULL if they are not kept */
};

struct msd_call_log {
	struct msd_call_slot *slots;  /* owned, n_slots; NULL: no log is kept */
	uint32_t n_slots, n_used;     /* used ones are never unused again */
	uint64_t total;               /* number of the next call */
	struct msd_list calls;        /* msd_call_slot.link, oldest first */
	struct msd_list lanes;        /* msd_call_lane.link, with at least one call */
	uint32_t n_lanes;             /* length of lanes */
	enum msd_call_log_kind kind;  /* its lane in the call statistics */
	struct msd_call_lane *most;   /* a lane with many calls, or left */
	struct msd_call_lane left;    /* the calls of all modules that are gone */
	struct msd_waiters followers; /* wait for the next call; edge's */
	struct msd_deadline batch;    /* they are answered together; edge's */
	uint64_t told_ms;             /* call_log_dump.c: last dump for a lost worker */
	uint64_t telling, tell_end;   /* call_log_dump.c: calls being written */
	struct msd_deadline tell;
};

/** Create the log. Without memory no log is kept, and the daemon still serves. */
void msd_call_log_init(struct msd_call_log *log, enum msd_call_log_kind kind);
void msd_call_log_finish(struct msd_call_log *log);
/**
 * Return the entry for the next call, of @call_stats's module, with a new reference to
 * @call_stats. The caller fills the rest: this is on the path of every call. NULL: no
 * log is kept.
 */
struct msd_logged_call *msd_call_log_next(struct msd_call_log *log,
					  struct msd_deadlines *ds,
					  struct msd_call_stats *call_stats);
/** Log @call, a slow one with @params, and their types; without memory drop it. */
void msd_call_log_add_slow(struct msd_call_log *log, const struct msd_logged_call *call,
			   struct msd_span params);
/** A module is gone: its calls share a lane with those of others. NULL is fine. */
void msd_call_log_leave(struct msd_call_log *log, struct msd_call_stats *call_stats);
/** Return the first kept call with a number of @from or later; NULL: none. */
const struct msd_call_slot *msd_call_log_find(const struct msd_call_log *log,
					      uint64_t from);
/** Return the kept call after @slot; NULL: none. */
const struct msd_call_slot *msd_call_log_after(const struct msd_call_log *log,
					       const struct msd_call_slot *slot);
/** Return the function name of @record. Borrowed. */
const char *msd_logged_function(const struct msd_logged_call *record);
/** Total time of all stages. */
uint64_t msd_logged_total_ns(const struct msd_logged_call *record);

#endif
