#ifndef MSD_SUPERVISOR_SCRAPE_H
#define MSD_SUPERVISOR_SCRAPE_H
/* `GET /metrics`. */
struct msd_http_exchange;

/** Route handler. */
void msd_scrape(struct msd_http_exchange *a);

#endif
