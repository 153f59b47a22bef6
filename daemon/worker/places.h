#ifndef MSD_WORKER_PLACES_H
#define MSD_WORKER_PLACES_H
/* Where in the file system the code in a worker has to do, by profile: the libraries of
 * the system, what is known of the machine, the devices and caches of drivers. */
#include "daemon/worker/landlock.h"
#include "daemon/worker/sandbox.h"

/* There where a card of NVIDIA's is. */
#define MSD_PLACE_NVIDIA "/dev/nvidiactl"

/* Who is told of a file or folder, which may not be there, and what may be done with it
 * and all below it. */
struct msd_places_visitor {
	void (*visit)(void *ctx, const char *path, enum msd_landlock_reach reach);
	void *ctx;
};

/** Tell @v of all places of @plan. Caches that are to be written are made. */
void msd_places_visit(const struct msd_sandbox_plan *plan,
		      const struct msd_places_visitor *v);
/** Add them as rules to @l. */
void msd_places_allow(const struct msd_sandbox_plan *plan, struct msd_landlock *l);

#endif
