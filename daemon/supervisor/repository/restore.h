#ifndef MSD_SUPERVISOR_RESTORE_H
#define MSD_SUPERVISOR_RESTORE_H
/* Load the modules of the store again at the daemon's start. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/life/registry.h"

struct msd_options;

/**
 * Start to load the modules of the store. Options in a section of @o override the
 * kept options. A module that already has the name keeps it. A module that cannot be
 * loaded is FAILED, with the cause. It reads all files before the loop runs, so that
 * the first client finds every name, as with --load.
 */
void msd_restore(struct msd_keeper *keeper, struct msd_module_registry *registry,
		 const struct msd_options *o);

#endif
