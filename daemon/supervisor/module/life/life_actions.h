#ifndef MSD_SUPERVISOR_LIFE_ACTIONS_H
#define MSD_SUPERVISOR_LIFE_ACTIONS_H
/* Private to life.c: perform the actions of life_step.h. */
#include "daemon/supervisor/module/life/life_step.h"
#include "daemon/supervisor/module/life/module.h"

/**
 * Perform the action. @how is the cause of a worker's loss, for error texts. May free
 * the module.
 */
void msd_module_perform(struct msd_module *m, const struct msd_life_action *a,
			const char *how);

#endif
