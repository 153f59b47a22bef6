#ifndef MSD_SUPERVISOR_WARM_H
#define MSD_SUPERVISOR_WARM_H
/*
 * Workers that outlive the daemon (--keep-workers): the service manager keeps what a
 * worker lives by while no daemon runs, and the next one asks the worker for its
 * module instead of loading it again.
 *
 *   started --READY--> kept --left, or the daemon is killed--> (the manager's alone)
 *      ^                                                            |
 *      '------ the next daemon: gathered, taken, resumed -----------'
 *
 * Whoever gathers takes them out of the manager's store, and puts a worker back when it
 * has resumed: one that ends the daemon which takes it is not met a second time.
 */
#include "daemon/supervisor/module/process.h"

/* How long a worker may take to resume; then a fresh one is started. */
#define MSD_WARM_RESUME_MS 5000u

/** All descriptors have been put on the shelf of @house: end what is no whole worker,
 * and what is in control groups of earlier daemons' others. */
void msd_warm_gather(struct msd_house *house);
/** What is on the shelf is nobody's by now: end it, because of @why. */
void msd_warm_end_rest(struct msd_house *house, const char *why);
/**
 * A worker that was left and was started for @key, spoken to over a new channel, on
 * which it is to be sent worker.resume. Like msd_process_spawn(); NULL: there is none.
 */
struct msd_process *msd_warm_take(struct msd_house *house, const struct msd_digest *key,
				  const struct msd_process_ops *ops,
				  struct msd_replica *owner);

#endif
