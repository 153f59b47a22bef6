#ifndef MSD_SUPERVISOR_COUNTED_H
#define MSD_SUPERVISOR_COUNTED_H
/*
 * A client's call on its way, as its module's tally sees it: which row it counts in,
 * and where its time goes. What no client asked for is not counted.
 */
#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/wire/wire.h"

/** @r, a call of @function, has been read so far; its module is known. */
void msd_counted_begin(struct msd_req *r, const struct msd_crew *crew,
		       struct msd_span function);
/** Its client has been answered r->client.code, or is gone. */
void msd_counted_end(const struct msd_req *r, const struct msd_crew *crew);

/** @stage of @r is over, the next begins. */
static inline void msd_counted_stage(struct msd_req *r, struct msd_crew *crew,
				     enum msd_stage stage)
{
	if (r->at.since_ns == 0)
		return;
	const uint64_t now = msd_wire_now_ns(crew->house->wire);
	msd_times_note(&crew->stages[stage], now - r->at.since_ns);
	r->at.since_ns = now;
}
/** The worker has answered @r, and says that it ran for @exec_ns. */
static inline void msd_counted_run(const struct msd_req *r, struct msd_crew *crew,
				   uint64_t exec_ns)
{
	if (r->at.since_ns == 0)
		return;
	const uint64_t ns = msd_wire_now_ns(crew->house->wire) - r->at.since_ns;
	msd_times_note(&crew->stages[MSD_STAGE_WORKER],
		       ns > exec_ns ? ns - exec_ns : 0);
	msd_times_note(&crew->stages[MSD_STAGE_RUN], exec_ns);
}

#endif
