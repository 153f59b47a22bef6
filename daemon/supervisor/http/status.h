#ifndef MSD_SUPERVISOR_STATUS_H
#define MSD_SUPERVISOR_STATUS_H
/* `GET /status`: the daemon and its modules, as the page of them asks for it. */
#include "daemon/supervisor/http/roll.h"

struct msd_asking;

extern const struct msd_roll msd_status_roll;
/** The route's. */
void msd_status(struct msd_asking *a);

#endif
