#ifndef MSD_SUPERVISOR_READY_WAIT_H
#define MSD_SUPERVISOR_READY_WAIT_H
/*
 * How long what is queued waits for a module that nobody serves, where it has no
 * deadline of its own: limits.ready_wait, from when it was queued or, if that is later,
 * from when the last worker was lost. What had been queued before that shares one
 * deadline, its crew's, and is looked through when that is over (refusal.h): a loss
 * costs the same whatever is queued. What is queued later has one each.
 */
#include "daemon/supervisor/module/crew.h"

/** The workers are not there any more. No-op while it waits already. */
void msd_ready_wait_begin(struct msd_crew *crew);
/** They are: what is queued waits for its own deadlines alone. */
void msd_ready_wait_end(struct msd_crew *crew);
/** @r, queued without a deadline, has waited since before the module was lost, and that
 * is over. */
bool msd_ready_wait_is_late(const struct msd_req *r);
/** Answer such a @r, and free it. */
void msd_ready_wait_refuse(struct msd_req *r);

/** @r was queued while nobody serves. */
void msd_ready_wait_set(struct msd_req *r);
/** The deadline of that is over: true, it is answered; false, it waits on. */
bool msd_ready_wait_is_over(struct msd_req *r);
/** @r is sent, and waits no more. */
void msd_ready_wait_clear(struct msd_req *r);

#endif
