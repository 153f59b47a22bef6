#ifndef MSD_SUPERVISOR_HANDOVER_H
#define MSD_SUPERVISOR_HANDOVER_H
/*
 * Handover: workers that outlive the daemon (--keep-workers). The service manager
 * keeps the descriptors of a worker while no daemon runs. The next daemon asks the
 * worker for its module instead of loading it again.
 *
 *   started --READY--> kept --left, or the daemon is killed--> (only in the manager)
 *      ^                                                            |
 *      '------ the next daemon: gathered, taken, resumed -----------'
 *
 * The daemon that gathers workers removes them from the manager's store, and puts a
 * worker back when it has resumed. So a worker that crashes the daemon is not taken a
 * second time.
 */
#include "daemon/supervisor/module/workers/process.h"

/* Maximum time for a worker to resume; then a fresh one is started. */
#define MSD_HANDOVER_RESUME_MS 5000u

/**
 * All descriptors are in the handover pool of @registry: kill incomplete workers, and
 * the control groups of earlier daemons without a worker in the pool.
 */
void msd_handover_gather(struct msd_module_registry *registry);
/** The workers left in the pool are not needed: kill them, for @why. */
void msd_handover_end_rest(struct msd_module_registry *registry, const char *why);
/**
 * Take over a kept worker that was started for @key, with a new channel, over which
 * worker.resume must be sent. Like msd_process_spawn(); NULL: no such worker.
 */
struct msd_process *msd_handover_find(struct msd_module_registry *registry,
				      const struct msd_digest *key,
				      const struct msd_process_ops *ops,
				      struct msd_replica *owner);

#endif
