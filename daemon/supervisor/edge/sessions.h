#ifndef MSD_SUPERVISOR_SESSIONS_H
#define MSD_SUPERVISOR_SESSIONS_H
/* All sessions together: what the server does to them. */
#include "daemon/supervisor/edge/edge.h"

/** End the connections whose peers do not read their replies (limits.write_stall_ms).
 */
void msd_sessions_close_stalled(struct msd_edge *e);
/** Write what can be written now. True: replies are left that somebody should read. */
bool msd_sessions_flush(struct msd_edge *e);
/** End all connections. */
void msd_sessions_close_all(struct msd_edge *e);

#endif
