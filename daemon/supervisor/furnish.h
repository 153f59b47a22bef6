#ifndef MSD_SUPERVISOR_FURNISH_H
#define MSD_SUPERVISOR_FURNISH_H
/* What the parts of the supervisor know of each other. */
#include "daemon/supervisor/server.h"

/** Give the parts of @s, whose loop, wire and deadlines stand, what they live on. */
void msd_server_furnish(struct msd_server *s);

#endif
