#ifndef MSD_SUPERVISOR_SCRAPE_H
#define MSD_SUPERVISOR_SCRAPE_H
/* `GET /metrics`. */
struct msd_asking;

/** Route handler. */
void msd_scrape(struct msd_asking *a);

#endif
