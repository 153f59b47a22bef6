#ifndef MSD_SUPERVISOR_HANDOVER_KEY_H
#define MSD_SUPERVISOR_HANDOVER_KEY_H
/* The key that tells which kept worker may replace which (handover.h). */
#include "store/digest.h"

struct msd_worker_group;

/**
 * Compute the key of worker @index of @group: the program, the artifact, all params of
 * worker.open, and its user. False: out of memory, or no worker is kept.
 */
MSD_MUST_CHECK bool msd_handover_key(const struct msd_worker_group *group,
				     uint32_t index, struct msd_digest *ret);

#endif
