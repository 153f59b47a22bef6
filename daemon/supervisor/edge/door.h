#ifndef MSD_SUPERVISOR_DOOR_H
#define MSD_SUPERVISOR_DOOR_H
/*
 * Who comes in: an accepted socket becomes a session, or is told why not and closed. A
 * way in stays open for the daemon's own user: nobody else gets the last places, and no
 * peer gets all of the others.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/principal.h"

/** Somebody has connected by @fd, which is the door's from here on. */
void msd_door_open(struct msd_edge *e, int fd, struct msd_principal who);

#endif
