#ifndef MSD_SUPERVISOR_SESSIONS_H
#define MSD_SUPERVISOR_SESSIONS_H
/* All sessions together: what the server does to them. */
#include "daemon/supervisor/edge/edge.h"

/** Look again and again, as long as there are sessions, which of them are to be ended:
 * watch.h. No effect when it is on. */
void msd_sessions_watch(struct msd_edge *e);
/** Write what can be written now. True: replies are left that somebody should read. */
bool msd_sessions_flush(struct msd_edge *e);
/** The daemon ends: of each connection what has come is read, and answered; one that
 * nobody owes an answer is ended, and its client told that what was not answered was
 * not begun. True: some are left. */
bool msd_sessions_dismiss(struct msd_edge *e);
/** End all connections, without a word. */
void msd_sessions_close_all(struct msd_edge *e);

#endif
