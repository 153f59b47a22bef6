#ifndef MSD_SUPERVISOR_MEMORY_PRESSURE_H
#define MSD_SUPERVISOR_MEMORY_PRESSURE_H
/*
 * Handles a session that holds more memory than it may (daemon/loop/account.h). The
 * daemon does not read from it until it holds less, and closes it if that does not
 * happen.
 */
#include "daemon/supervisor/edge/session/frame_session.h"

struct msd_edge;

/** Call once for each edge: sessions resume when memory is released. */
void msd_memory_pressure_init(struct msd_edge *e);
/** @f holds more than before: stop reading from it if it is over its limit. */
void msd_memory_pressure_stop(struct msd_frame_session *f);
static inline void msd_memory_pressure_check(struct msd_frame_session *f)
{
	if (msd_account_is_over(&f->session.client.account))
		msd_memory_pressure_stop(f);
}
/**
 * Close sessions that hold too much and released nothing for limits.write_stall_ms.
 * @away_ms: how long the daemon did not run before (deadline.h).
 */
void msd_memory_pressure_end_stuck(struct msd_edge *e, uint64_t away_ms);

#endif
