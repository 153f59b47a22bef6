#ifndef MSD_SUPERVISOR_RUN_WATCH_H
#define MSD_SUPERVISOR_RUN_WATCH_H
/*
 * Watch each worker while it runs a request, and kill it when that must stop
 * (run_limit.h). This covers calls through the supervisor and calls on direct
 * channels. A stopped worker counts as running the request that it was sent, because
 * no difference is visible.
 *
 * The timer keeps running when the worker has answered: to stop it at each call costs
 * more than a useless expiry.
 */
#include "daemon/supervisor/module/workers/replica.h"

/** Check @rep in at most @in_ms. */
void msd_run_watch_in(struct msd_replica *rep, uint64_t in_ms);
/** Check it now, and again while it is busy. */
void msd_run_watch_look(struct msd_replica *rep);
/** An idle worker was sent a request. */
static inline void msd_run_watch_begin(struct msd_replica *rep)
{
	if (!msd_deadline_is_set(&rep->run_timer))
		msd_run_watch_look(rep);
}

#endif
