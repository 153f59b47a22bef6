#ifndef MSD_SUPERVISOR_STATUS_H
#define MSD_SUPERVISOR_STATUS_H
/* `GET /status`: the data of the status page, about the daemon and its modules. */
#include "daemon/supervisor/http/page/module_listing.h"

struct msd_http_exchange;

extern const struct msd_module_listing msd_status_roll;
/** Route handler. */
void msd_status(struct msd_http_exchange *a);

#endif
