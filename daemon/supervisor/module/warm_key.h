#ifndef MSD_SUPERVISOR_WARM_KEY_H
#define MSD_SUPERVISOR_WARM_KEY_H
/* What tells workers apart that one could be taken for another (warm.h). */
#include "store/digest.h"

struct msd_crew;

/** What worker @index of @crew is started for: the program, the artifact, all that
 * worker.open says, and whose it is. False: no memory, or none is kept. */
MSD_MUST_CHECK bool msd_warm_key(const struct msd_crew *crew, uint32_t index,
				 struct msd_digest *ret);

#endif
