#ifndef MSD_SUPERVISOR_CALL_LOG_H
#define MSD_SUPERVISOR_CALL_LOG_H

/*
 * Call log: the latest calls of clients, with function, peer, result and the time of
 * each stage. It is always on, so the recent past can be read back. Calls are
 * numbered from the first one on.
 */

#include "daemon/supervisor/module/stats/call_shapes.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/request/waiters.h"

struct msd_call_stats;

#define MSD_LOGGED_CALLS 4096u    /* a power of two */
#define MSD_CALL_LOG_BATCH_MS 20u /* minimum time between answers to followers */

struct msd_logged_call {
	uint64_t end_ns; /* by the clock of the wire */
	uint64_t spent_ns[MSD_STAGE_COUNT];
	struct msd_peer_id who;
	struct msd_call_stats *call_stats; /* a reference; has the module's name */
	uint8_t row;                       /* row of the statistics: the function */
	uint8_t code;                      /* an msd_err, or MSD_REQ_UNANSWERED */
};

struct msd_call_log {
	struct msd_logged_call
		*ring;  /* owned, MSD_LOGGED_CALLS; NULL: no log is kept */
	uint64_t total; /* number of the next call */
	struct msd_waiters followers; /* wait for the next call; edge's */
	struct msd_deadline batch;    /* they are answered together; edge's */
	uint64_t told_ms;             /* call_log_dump.c: last dump for a lost worker */
	uint64_t telling, tell_end;   /* call_log_dump.c: calls being written */
	struct msd_deadline tell;
};

/** Create the log. Without memory no log is kept, and the daemon still serves. */
void msd_call_log_init(struct msd_call_log *rec);
void msd_call_log_finish(struct msd_call_log *rec);
/**
 * Return the entry for the next call, of @call_stats's module, with a new reference to
 * @call_stats. The caller fills the rest: this is on the path of every call. NULL: no
 * log is kept.
 */
struct msd_logged_call *msd_call_log_next(struct msd_call_log *rec,
					  struct msd_deadlines *ds,
					  struct msd_call_stats *call_stats);
/** Number of the oldest kept call. */
static inline uint64_t msd_call_log_oldest(const struct msd_call_log *rec)
{
	return rec->total > MSD_LOGGED_CALLS ? rec->total - MSD_LOGGED_CALLS : 0;
}
/** Return the kept call @number. */
static inline const struct msd_logged_call *
msd_call_log_at(const struct msd_call_log *rec, uint64_t number)
{
	return &rec->ring[number % MSD_LOGGED_CALLS];
}
/** Return the function name of @record. Borrowed. */
const char *msd_logged_function(const struct msd_logged_call *record);
/** Total time of all stages. */
uint64_t msd_logged_total_ns(const struct msd_logged_call *record);

/* Slow log: the latest calls that took limits.slow_call_ms or longer, with their
 * arguments. Faster calls cost nothing. */

#define MSD_SLOW_CALLS 128u

struct msd_slow_call {
	struct msd_logged_call record; /* with a reference to its call statistics */
	char arguments[MSD_CALL_SHAPES_BYTES];
};

struct msd_slowlog {
	struct msd_slow_call *ring; /* owned, MSD_SLOW_CALLS; or NULL */
	uint64_t total;
};

/** Keep @record of a call with @params; without memory it is dropped. */
void msd_slowlog_note(struct msd_slowlog *s, const struct msd_logged_call *record,
		      struct msd_span params);
void msd_slowlog_finish(struct msd_slowlog *s); /* zeroed is fine */

#endif
