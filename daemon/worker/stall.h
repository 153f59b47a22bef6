#ifndef MSD_WORKER_STALL_H
#define MSD_WORKER_STALL_H
/* Guests that do not read their answers lose their connections, as the daemon's clients
 * do (--write-stall), and one that is to leave with it the time that it may take. */
#include "daemon/worker/worker.h"

void msd_stall_init(struct msd_worker *w, uv_loop_t *loop);
/** Answers may have been left unread in this turn. */
void msd_stall_watch(struct msd_worker *w);

#endif
