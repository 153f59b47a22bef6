#ifndef MSD_SUPERVISOR_WARM_KEY_H
#define MSD_SUPERVISOR_WARM_KEY_H
/* The key that tells which kept worker may replace which (warm.h). */
#include "store/digest.h"

struct msd_crew;

/**
 * Compute the key of worker @index of @crew: the program, the artifact, all params of
 * worker.open, and its user. False: out of memory, or no worker is kept.
 */
MSD_MUST_CHECK bool msd_warm_key(const struct msd_crew *crew, uint32_t index,
				 struct msd_digest *ret);

#endif
