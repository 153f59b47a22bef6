#ifndef MSD_SUPERVISOR_SCRAPE_H
#define MSD_SUPERVISOR_SCRAPE_H
/* What Prometheus asks for: the daemon's metrics (docs/metrics.md), in the form that it
 * accepts. */
#include "daemon/supervisor/http/asking.h"

void msd_scrape(struct msd_asking *a);

#endif
