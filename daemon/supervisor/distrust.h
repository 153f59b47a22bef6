#ifndef MSD_SUPERVISOR_DISTRUST_H
#define MSD_SUPERVISOR_DISTRUST_H
/* What is served, and was signed by keys that are trusted no more: at a start, and when
 * the configuration has been read again. It goes on serving, and the log says so. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/supplies.h"
#include "store/trust.h"

/** Look at the current editions of all modules whose policy is "signed", soon.
 * @supplies, which says whose it is, is borrowed until the keeper is closed. */
void msd_distrust_look(struct msd_keeper *keeper, const struct msd_supplies *supplies,
		       const struct msd_trust *trust);

#endif
