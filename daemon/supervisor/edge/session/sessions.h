#ifndef MSD_SUPERVISOR_SESSIONS_H
#define MSD_SUPERVISOR_SESSIONS_H
/* Operations of the server on all sessions. */
#include "daemon/supervisor/edge/edge.h"

/**
 * Check the connection timeouts (conn_timeout.h) periodically while there are sessions.
 * No effect if it is active.
 */
void msd_sessions_watch(struct msd_edge *e);
/** Write as much as possible now. True: some clients still have unread replies. */
bool msd_sessions_flush(struct msd_edge *e);
/**
 * Shut down: read and answer all input that has arrived. A connection without pending
 * replies is closed, and its client learns that unanswered requests were not started.
 * True: connections are left.
 */
bool msd_sessions_dismiss(struct msd_edge *e);
/** Close all connections without a message. */
void msd_sessions_close_all(struct msd_edge *e);

#endif
