#ifndef MSD_WORKER_STALL_H
#define MSD_WORKER_STALL_H
/* Guests that do not read their answers, or stop within a frame, lose their
 * connections, as the daemon's clients do (--write-stall, --read-stall); one that is to
 * leave has a bound for the time that it may take in all. */
#include "daemon/worker/worker.h"

void msd_stall_init(struct msd_worker *w, uv_loop_t *loop);
/** Answers may have been left unread in this turn, or frames begun. */
void msd_stall_watch(struct msd_worker *w);

#endif
