#ifndef MSD_SUPERVISOR_CONFINED_H
#define MSD_SUPERVISOR_CONFINED_H
/*
 * Who connects to a unix socket out of a module's sandbox: code of somebody else that
 * would have the rights of the daemon's own user. It is known by a mark that it cannot
 * take off (daemon/mark.h), and has no place here.
 */
#include <stdbool.h>

#include "daemon/supervisor/edge/edge.h"

/** Has a process of a sandbox connected the unix socket @fd, or one of the daemon's own
 * user of which that cannot be found out because it is gone? */
bool msd_confined_has_connected(int fd);
/** Close @fd, of which that is so: counted, and told to the log. */
void msd_confined_refuse(struct msd_edge *e, int fd);

#endif
