#ifndef MSD_SUPERVISOR_SLOWLOG_H
#define MSD_SUPERVISOR_SLOWLOG_H
/* Slow log: the latest calls that took limits.slow_call_ms or longer, with their
 * arguments. Faster calls cost nothing. */
#include "daemon/supervisor/module/stats/call_log.h"
#include "daemon/supervisor/module/stats/call_shapes.h"

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
