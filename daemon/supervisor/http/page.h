#ifndef MSD_SUPERVISOR_PAGE_H
#define MSD_SUPERVISOR_PAGE_H
/*
 * The status page, one file that asks nobody but its daemon, and what it asks: the
 * answers of server.info, module.list and module.describe as JSON.
 */
struct msd_asking;

/** `/`: the page, which is anybody's, for it says nothing. */
void msd_page(struct msd_asking *a);
/** `/status`: the daemon and its modules. */
void msd_page_status(struct msd_asking *a);
/** `/status/MODULE`: all of one. */
void msd_page_module(struct msd_asking *a);

#endif
