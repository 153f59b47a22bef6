#ifndef MSD_SUPERVISOR_RUN_WATCH_H
#define MSD_SUPERVISOR_RUN_WATCH_H
/*
 * Each worker is looked at while it runs something, and ended when that may not go on
 * (run_step.h): a call that came through the supervisor, or by a client's own channel.
 * A worker that was stopped runs what it was sent, as far as can be seen.
 *
 * The timer goes on when the worker has answered: to stop it with each call costs more
 * than that it finds nothing.
 */
#include "daemon/supervisor/module/replica.h"

/** Look at @rep no later than in @in_ms. */
void msd_run_watch_in(struct msd_replica *rep, uint64_t in_ms);
/** Look at it now, and again while it is busy. */
void msd_run_watch_look(struct msd_replica *rep);
/** It was sent something, and had nothing before. */
static inline void msd_run_watch_begin(struct msd_replica *rep)
{
	if (!msd_deadline_is_set(&rep->run_timer))
		msd_run_watch_look(rep);
}

#endif
