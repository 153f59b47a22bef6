#ifndef MSD_SUPERVISOR_MODULE_WATCHED_H
#define MSD_SUPERVISOR_MODULE_WATCHED_H
/* A module whose probation goes on while it serves. */
#include "daemon/supervisor/module/module.h"

/** From now on, for limits.watch_ms; what comes of it is told to house->on_watched. */
void msd_module_watch(struct msd_module *m);
/** Something has happened to it; nothing is done unless it is watched. */
void msd_module_look(struct msd_module *m);

#endif
