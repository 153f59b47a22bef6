#ifndef MSD_WORKER_INSTANCES_H
#define MSD_WORKER_INSTANCES_H
/* Instances of the module that a peer holds, by handle. */
#include "daemon/loop/handle.h"

/** NULL if @h is stale. */
struct msd_instance *msd_instances_peek(const struct msd_handles *instances,
					struct msd_handle h);
/** Close all, and free the table. */
void msd_instances_finish(struct msd_handles *instances);

#endif
