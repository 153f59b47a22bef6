#ifndef MSD_SUPERVISOR_READY_TIMEOUT_H
#define MSD_SUPERVISOR_READY_TIMEOUT_H
/*
 * Ready timeout: how long a queued request without a deadline of its own waits for a
 * module that no worker serves. The limit is limits.ready_wait, from when it was
 * queued or, if later, from when the last worker was lost. Requests queued before the
 * loss share one deadline of their group, and are checked when it is over
 * (bulk_reject.h). So a loss costs the same for any number of requests. Each request
 * queued later has a deadline.
 */
#include "daemon/supervisor/module/workers/worker_group.h"

/** No worker serves any more. No-op if the wait is running. */
void msd_ready_timeout_begin(struct msd_worker_group *group);
/** Workers serve again: queued requests wait for their own deadlines only. */
void msd_ready_timeout_end(struct msd_worker_group *group);
/**
 * True if @r, queued without a deadline, has waited since before the loss, and the
 * wait is over.
 */
bool msd_ready_timeout_is_late(const struct msd_req *r);
/** Answer such a request and free it. */
void msd_ready_timeout_refuse(struct msd_req *r);

/** @r was queued while no worker serves: set its ready deadline. */
void msd_ready_timeout_set(struct msd_req *r);
/** The ready deadline of @r is over. True: it must be answered. False: it waits on. */
bool msd_ready_timeout_is_over(struct msd_req *r);
/** @r is sent: clear its ready deadline. */
void msd_ready_timeout_clear(struct msd_req *r);

#endif
