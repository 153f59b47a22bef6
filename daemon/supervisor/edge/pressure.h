#ifndef MSD_SUPERVISOR_PRESSURE_H
#define MSD_SUPERVISOR_PRESSURE_H
/*
 * What becomes of a session that holds more memory than it may (daemon/wire/account.h):
 * it is not read from until it holds less, and ended when it does not come to that.
 */
#include "daemon/supervisor/edge/framed.h"

struct msd_edge;

/** Once for each edge: room that is given back lets the held back go on. */
void msd_pressure_init(struct msd_edge *e);
/** @f has taken something on: stop reading it if that was too much. */
void msd_pressure_stop(struct msd_framed *f);
static inline void msd_pressure_check(struct msd_framed *f)
{
	if (msd_account_is_over(&f->session.client.account))
		msd_pressure_stop(f);
}
/** End who holds too much and has not given back any of it for limits.write_stall_ms;
 * @away_ms: the daemon was away for so long before (deadline.h). */
void msd_pressure_end_stuck(struct msd_edge *e, uint64_t away_ms);

#endif
