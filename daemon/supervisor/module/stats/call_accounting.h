#ifndef MSD_SUPERVISOR_CALL_ACCOUNTING_H
#define MSD_SUPERVISOR_CALL_ACCOUNTING_H
/* Call accounting: the row of the statistics that a client's call counts in, and
 * where its time goes. Requests without a client are not counted. */
#include "daemon/stream/wire.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/worker_group.h"

struct msd_put_off;

_Static_assert(MSD_REQ_STAGES == MSD_STAGE_COUNT, "a request keeps each stage's time");

/** @r, a call of @function, has been parsed up to its function; its module is known. */
void msd_call_accounting_begin(struct msd_req *r, const struct msd_worker_group *group,
			       struct msd_span function);
/** The same for a call whose row is known. */
static inline void msd_call_accounting_again(struct msd_req *r,
					     const struct msd_worker_group *group)
{
	r->at.since_ns = group->registry->leaves_calls_uncounted
				 ? 0
				 : msd_wire_now_ns(group->registry->wire);
	r->at.began_ns = r->at.since_ns;
}
/** True if @r gets the same row when it is repeated. */
bool msd_call_accounting_is_settled(const struct msd_req *r,
				    const struct msd_worker_group *group);
/** Count @r: its client has been answered r->client.code, or is gone. */
void msd_call_accounting_end(const struct msd_req *r,
			     const struct msd_worker_group *group);
/**
 * Count and record a call of @function by @who that was answered with @err before a
 * request existed. Its stages took no time.
 */
void msd_call_accounting_refused(const struct msd_worker_group *group,
				 struct msd_span function, const struct msd_client *who,
				 msd_err err);
/**
 * Defer the accounting of @r, which a worker has answered: the result for its client
 * is known later. The caller owns the returned entry and passes it to
 * msd_call_accounting_tell(). NULL: out of memory, and the call counts as done.
 */
struct msd_put_off *msd_call_accounting_put_off(struct msd_req *r,
						const struct msd_worker_group *group);
/**
 * Count the deferred call: its client got @code, an msd_err or MSD_REQ_UNANSWERED.
 * Frees @p; NULL is fine.
 */
void msd_call_accounting_tell(struct msd_put_off *p, unsigned code);

/** The time for @r: the loop time, or for a traced call the clock, read now. */
static inline uint64_t msd_call_accounting_now(const struct msd_req *r,
					       const struct msd_worker_group *group)
{
	return r->at.is_traced ? msd_wire_look_ns(group->registry->wire)
			       : msd_wire_now_ns(group->registry->wire);
}
/** End @stage of @r and begin the next one. */
static inline void msd_call_accounting_stage(struct msd_req *r,
					     struct msd_worker_group *group,
					     enum msd_stage stage)
{
	if (r->at.since_ns == 0)
		return;
	const uint64_t now = msd_call_accounting_now(r, group);
	r->at.spent_ns[stage] = now - r->at.since_ns;
	msd_times_note(&group->stages[stage], r->at.spent_ns[stage]);
	r->at.since_ns = now;
	r->at.stage = (uint8_t)(stage + 1);
}
/** The worker has answered @r and reports a run time of @exec_ns. */
static inline void msd_call_accounting_run(struct msd_req *r,
					   struct msd_worker_group *group,
					   uint64_t exec_ns)
{
	if (r->at.since_ns == 0)
		return;
	const uint64_t now = msd_call_accounting_now(r, group);
	const uint64_t ns = now - r->at.since_ns;
	r->at.spent_ns[MSD_STAGE_WORKER] = ns > exec_ns ? ns - exec_ns : 0;
	r->at.spent_ns[MSD_STAGE_RUN] = exec_ns;
	r->at.since_ns = now;
	r->at.stage = MSD_STAGE_RUN;
	msd_times_note(&group->stages[MSD_STAGE_WORKER],
		       r->at.spent_ns[MSD_STAGE_WORKER]);
	msd_times_note(&group->stages[MSD_STAGE_RUN], exec_ns);
}

#endif
