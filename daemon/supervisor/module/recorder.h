#ifndef MSD_SUPERVISOR_RECORDER_H
#define MSD_SUPERVISOR_RECORDER_H
/*
 * The last calls that clients made: what was called, by whom, how it ended and where
 * its time went. Kept always, without being asked for; who wants to know what the
 * daemon did just now reads it back. Calls are numbered from the first on.
 */
#include "daemon/supervisor/module/stage.h"
#include "daemon/supervisor/request/deadline.h"
#include "daemon/supervisor/request/followers.h"
#include "daemon/supervisor/request/peer_id.h"

struct msd_tally;

#define MSD_PAST_CALLS 4096u      /* a power of two */
#define MSD_RECORDER_BATCH_MS 20u /* followers are answered as often at most */

struct msd_past_call {
	uint64_t end_ns; /* by the wire's clock */
	uint64_t spent_ns[MSD_STAGE_COUNT];
	struct msd_peer_id who;
	struct msd_tally *tally; /* a reference: what the module is called */
	uint8_t row;             /* of it: the function */
	uint8_t code;            /* an msd_err, or MSD_REQ_UNANSWERED */
};

struct msd_recorder {
	struct msd_past_call *ring; /* owned, MSD_PAST_CALLS; NULL: nothing is kept */
	uint64_t total;             /* the number of the next */
	struct msd_followers followers; /* who waits for the next: the edge's */
	struct msd_deadline batch;      /* they are told together; the edge's to do */
	uint64_t told_ms;               /* flight.c's: of a lost worker, last */
	uint64_t telling, tell_end;     /* flight.c's: what is being told */
	struct msd_deadline tell;
};

/** Without memory nothing is kept, which is no reason not to serve. */
void msd_recorder_init(struct msd_recorder *rec);
void msd_recorder_finish(struct msd_recorder *rec);
/** The place of the next one, a call of @tally's module, which gets a reference: the
 * rest of it is written by the caller, for it is on the path of every call. NULL:
 * nothing is kept. */
struct msd_past_call *msd_recorder_next(struct msd_recorder *rec,
					struct msd_deadlines *ds,
					struct msd_tally *tally);
/** The oldest that is kept. */
static inline uint64_t msd_recorder_oldest(const struct msd_recorder *rec)
{
	return rec->total > MSD_PAST_CALLS ? rec->total - MSD_PAST_CALLS : 0;
}
/** Number @number, one that is kept. */
static inline const struct msd_past_call *
msd_recorder_at(const struct msd_recorder *rec, uint64_t number)
{
	return &rec->ring[number % MSD_PAST_CALLS];
}
/** What the function of @record is called. Borrowed. */
const char *msd_past_function(const struct msd_past_call *record);
/** All that it spent. */
uint64_t msd_past_total_ns(const struct msd_past_call *record);

#endif
