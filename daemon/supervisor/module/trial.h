#ifndef MSD_SUPERVISOR_MODULE_TRIAL_H
#define MSD_SUPERVISOR_MODULE_TRIAL_H
/*
 * A module's self-tests, between the opening of its workers and the first call of a
 * client: requests without a session, one after the other, to the first worker. What
 * they must answer is trial_case.h's.
 */
#include "daemon/supervisor/module/module.h"

/** Begin; then MSD_LIFE_TRIED on a later turn, or its workers are killed, with a cause.
 */
void msd_trial_begin(struct msd_module *m);

#endif
