#ifndef MSD_SUPERVISOR_STATUS_H
#define MSD_SUPERVISOR_STATUS_H
/* `GET /status`: the data of the status page, about the daemon and its modules. */
#include "daemon/supervisor/http/roll.h"

struct msd_asking;

extern const struct msd_roll msd_status_roll;
/** Route handler. */
void msd_status(struct msd_asking *a);

#endif
