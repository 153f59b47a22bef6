#ifndef MSD_WORKER_PLACES_H
#define MSD_WORKER_PLACES_H
/* Where in the file system the code in a worker has to do, by profile: the libraries of
 * the system, what is known of the machine, the devices and caches of drivers. */
#include "daemon/worker/landlock.h"
#include "daemon/worker/sandbox.h"

/** Add the rules of @plan to @l. Caches that are to be written are made. */
void msd_places_allow(const struct msd_sandbox_plan *plan,
		      const struct msd_landlock *l);

#endif
