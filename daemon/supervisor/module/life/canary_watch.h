#ifndef MSD_SUPERVISOR_MODULE_CANARY_WATCH_H
#define MSD_SUPERVISOR_MODULE_CANARY_WATCH_H
/* Canary period of a module while it serves. */
#include "daemon/supervisor/module/life/module.h"

/**
 * Begin the canary period, for limits.watch_ms; the verdict goes to
 * watched() of the repository.
 */
void msd_module_watch(struct msd_module *m);
/** The state of the module has changed: check it, if it is in its canary period. */
void msd_module_look(struct msd_module *m);

#endif
