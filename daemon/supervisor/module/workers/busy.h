#ifndef MSD_SUPERVISOR_BUSY_H
#define MSD_SUPERVISOR_BUSY_H
/* How long the workers of a module have been busy, for status output and for
 * readiness checks. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/worker_group.h"

/** Return how long @rep has run the current sent request; 0: it runs none. */
uint64_t msd_busy_ran_ms(const struct msd_replica *rep, uint64_t now_ms);
/**
 * Store in *@ret_ms how long @rep has run its current request. False: it runs
 * nothing.
 */
bool msd_busy_worker(const struct msd_replica *rep, uint64_t *ret_ms);
/** The longest of all workers of @group. False: none of them runs anything. */
bool msd_busy_longest(const struct msd_worker_group *group, uint64_t *ret_ms);
/**
 * A worker of @group is terminated for a request that ran for @ran_ms. Until a worker
 * answers, the group counts as silent since that request started.
 */
void msd_busy_note_end(struct msd_worker_group *group, uint64_t ran_ms);
/**
 * True if all open workers are busy and none has answered for longer than max-run;
 * *@ret_ms is that time.
 */
bool msd_busy_is_hung(const struct msd_worker_group *group, uint64_t *ret_ms);

#endif
