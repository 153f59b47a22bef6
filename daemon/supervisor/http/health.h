#ifndef MSD_SUPERVISOR_HEALTH_H
#define MSD_SUPERVISOR_HEALTH_H
/*
 * Is it alive, and does it serve? Live: its loop turns, for it has answered. Ready: it
 * takes requests, and every module that it was started for is READY. That one is not
 * does not make it restart-worthy, so the two are never mixed.
 */
#include "daemon/supervisor/http/asking.h"

void msd_health_live(struct msd_asking *a);
void msd_health_ready(struct msd_asking *a);
/** Of the module names[0]. */
void msd_health_module(struct msd_asking *a);
void msd_health_version(struct msd_asking *a);

#endif
