#ifndef MSD_SUPERVISOR_RESTORE_H
#define MSD_SUPERVISOR_RESTORE_H
/* Modules that were kept, loaded again at the daemon's start. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/house.h"

struct msd_options;

/** Start to load what the store keeps, with the options of @o's section of its name
 * where there is one; a name that is taken by then stays with who has
 * it. What cannot be had is FAILED, with its cause. It reads all files and is called
 * before the loop runs, so that who connects first finds every name, as with --load. */
void msd_restore(struct msd_keeper *keeper, struct msd_house *house,
		 const struct msd_options *o);

#endif
