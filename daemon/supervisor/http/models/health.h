#ifndef MSD_SUPERVISOR_HEALTH_H
#define MSD_SUPERVISOR_HEALTH_H
/*
 * Liveness and readiness. Live: the loop runs, because it replies. Ready: the daemon
 * accepts requests, and each module that it was started with is READY. A module that
 * is not READY is no reason for a restart, so the two checks are separate.
 */
#include "daemon/supervisor/http/exchange.h"

void msd_health_live(struct msd_http_exchange *a);
void msd_health_ready(struct msd_http_exchange *a);
/** Readiness of the module names[0]. */
void msd_health_module(struct msd_http_exchange *a);
void msd_health_version(struct msd_http_exchange *a);

#endif
