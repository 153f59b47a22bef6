#ifndef MSD_SUPERVISOR_DOOR_H
#define MSD_SUPERVISOR_DOOR_H
/* Decides who is let in: an accepted socket becomes a session, or is told why not and
 * closed. The last places are kept for the daemon's own user, and no peer gets all of
 * the others. */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/principal.h"

/** Somebody has connected by @fd, which is the door's from here on. */
void msd_door_open(struct msd_edge *e, int fd, struct msd_principal who);

/** A place for one more connection of @who, who is behind @fd, with a reference to it;
 * the caller gives both back. NULL: it has none, as the log says. */
struct msd_client_peer *msd_door_take(struct msd_edge *e, int fd,
				      const struct msd_principal *who);
void msd_door_give_back(struct msd_edge *e, struct msd_client_peer *p);
/** Close the accepted socket @fd of somebody who does not come in, and from whom nobody
 * has read: what its peer may have passed in it is closed as that peer's. */
void msd_door_turn_away(int fd);

#endif
