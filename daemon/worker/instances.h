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

/** Take over @instance, on failure too. Errors: MSD_BUSY at the limit, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_instances_add(struct msd_instances *t,
					 struct msd_instance *instance,
					 struct msd_handle *ret, struct msd_diag *d);
/** NULL when @h is stale. */
struct msd_instance *msd_instances_peek(const struct msd_instances *t,
					struct msd_handle h);
/** False when @h is stale. */
bool msd_instances_free(struct msd_instances *t, struct msd_handle h);
void msd_instances_finish(struct msd_instances *t);

#endif
