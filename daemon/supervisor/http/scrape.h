#ifndef MSD_SUPERVISOR_SCRAPE_H
#define MSD_SUPERVISOR_SCRAPE_H
/* `GET /metrics`: the text is made in pieces, between which others are served. */
#include "daemon/supervisor/http/asking.h"

/** The route's. */
void msd_scrape(struct msd_asking *a);
/** Nobody waits for it any more, if it is on. */
void msd_scrape_end(struct msd_caller *c);

#endif
