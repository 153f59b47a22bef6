#ifndef MSD_SUPERVISOR_MODULE_SLEEP_H
#define MSD_SUPERVISOR_MODULE_SLEEP_H
/* A module with `keep_alive` whose workers end when nobody has called it for so long.
 * What its clients hold in them keeps them. */
#include "daemon/supervisor/module/module.h"

/** It is READY: from now on it is looked at, until it is something else. */
void msd_sleep_begin(struct msd_module *m);

#endif
