#ifndef MSD_WORKER_INSTANCES_H
#define MSD_WORKER_INSTANCES_H
/* Instances of the module that a peer holds, by handle. */
#include "proto/value.h"
#include "runtime/module.h"

#define MSD_MAX_INSTANCES 1024u /* of one peer */

struct msd_instances {
	struct msd_instance_slot *slots; /* owned */
	uint32_t n_slots;
};

/** NULL when @h is stale. */
struct msd_instance *msd_instances_peek(const struct msd_instances *t,
					struct msd_handle h);
void msd_instances_finish(struct msd_instances *t);

#endif
