#ifndef MSD_SUPERVISOR_WIRING_H
#define MSD_SUPERVISOR_WIRING_H
/* Wire the components of the supervisor together. */
#include "daemon/supervisor/server.h"

/**
 * Pass their dependencies to the components of @s. The loop, wire and deadlines of @s
 * must be initialized.
 */
void msd_server_connect_parts(struct msd_server *s);

#endif
