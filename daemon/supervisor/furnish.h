#ifndef MSD_SUPERVISOR_FURNISH_H
#define MSD_SUPERVISOR_FURNISH_H
/* Wire the components of the supervisor together. */
#include "daemon/supervisor/server.h"

/**
 * Pass their dependencies to the components of @s. The loop, wire and deadlines of @s
 * must be initialized.
 */
void msd_server_furnish(struct msd_server *s);

#endif
