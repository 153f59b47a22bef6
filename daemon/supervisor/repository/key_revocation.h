#ifndef MSD_SUPERVISOR_KEY_REVOCATION_H
#define MSD_SUPERVISOR_KEY_REVOCATION_H
/* Find served modules whose signing keys are no longer trusted, at a start and after
 * a reload. Such a module continues to serve, and the log reports it. */
#include "daemon/supervisor/keep/keeper.h"
#include "daemon/supervisor/repository/source_pollers.h"
#include "store/trust.h"

/**
 * Schedule a check of the current editions of all modules with the policy "signed".
 * @supplies gives the policy of each module; it is borrowed until the keeper is
 * closed.
 */
void msd_key_revocation_look(struct msd_keeper *keeper,
			     const struct msd_source_pollers *source_pollers,
			     const struct msd_trust *trust);

#endif
