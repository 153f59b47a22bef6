#ifndef MSD_SUPERVISOR_ROLLBACK_H
#define MSD_SUPERVISOR_ROLLBACK_H
/* The edition before the one that is served, served again. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/module/house.h"

struct msd_req;

/** Try the previous edition of the module @name in place of what is served; @r, which
 * is taken, is answered when that is READY, or why it is not: MSD_NOT_FOUND when the
 * store has none. */
void msd_rollback(struct msd_keeper *keeper, struct msd_house *house, const char *name,
		  struct msd_req *r);

#endif
