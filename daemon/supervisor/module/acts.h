#ifndef MSD_SUPERVISOR_ACTS_H
#define MSD_SUPERVISOR_ACTS_H
/* Private to life.c: what the actions of life_step.h do. */
#include "daemon/supervisor/module/life_step.h"
#include "daemon/supervisor/module/module.h"

/** Do it. @how says how a worker was lost, for people. May free the module. */
void msd_module_perform(struct msd_module *m, const struct msd_life_action *a,
			const char *how);

#endif
