#ifndef MSD_SUPERVISOR_SESSIONS_H
#define MSD_SUPERVISOR_SESSIONS_H
/* All sessions together: what the server does to them. */
#include "daemon/supervisor/edge/edge.h"

/** Look again and again, as long as there are sessions, which of them are to be ended:
 * watch.h. No effect when it is on. */
void msd_sessions_watch(struct msd_edge *e);
/** Write what can be written now. True: replies are left that somebody should read. */
bool msd_sessions_flush(struct msd_edge *e);
/** End all connections. */
void msd_sessions_close_all(struct msd_edge *e);

#endif
