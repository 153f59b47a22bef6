#ifndef MSD_CONFINE_SANDBOX_PATHS_H
#define MSD_CONFINE_SANDBOX_PATHS_H
/* The parts of the file system that a worker's code needs, by sandbox profile:
 * libraries of the system, machine information, devices and driver caches. */
#include "daemon/confine/landlock.h"
#include "daemon/confine/sandbox.h"

/* Exists if the machine has an NVIDIA card. */
#define MSD_PLACE_NVIDIA "/dev/nvidiactl"

/* Called for each file or directory, which may not exist, with the access allowed to
 * it and everything below it. */
struct msd_sandbox_paths_visitor {
	void (*visit)(void *ctx, const char *path, enum msd_landlock_reach reach);
	void *ctx;
};

/** Call @v for all paths of @plan. Makes writable cache directories. */
void msd_sandbox_paths_visit(const struct msd_sandbox_plan *plan,
			     const struct msd_sandbox_paths_visitor *v);
/** Add them as rules to @l. */
void msd_sandbox_paths_allow(const struct msd_sandbox_plan *plan,
			     struct msd_landlock *l);

#endif
