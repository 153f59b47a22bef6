#ifndef MSD_SUPERVISOR_DOOR_H
#define MSD_SUPERVISOR_DOOR_H
/* Decides who is let in: an accepted socket becomes a session, or is told why not and
 * closed. The last places are kept for the daemon's own user, and no peer gets all of
 * the others. */
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/principal.h"

#define MSD_DOOR_WHY_BYTES 200u

/** Somebody has connected by @fd, which is the door's from here on. */
void msd_door_open(struct msd_edge *e, int fd, struct msd_principal who);

/** A place for one more connection of @who, who is behind @fd, with a reference to it;
 * the caller gives both back. NULL: it has none, as the log says. */
struct msd_client_peer *msd_door_take(struct msd_edge *e, int fd,
				      const struct msd_principal *who);
/** Close the accepted socket @fd of somebody who does not come in, and from whom nobody
 * has read: what its peer may have passed in it is closed as that peer's. */
void msd_door_turn_away(int fd);

/** @p may have one more beside those that it has: its part (request/part.h) of what
 * others leave of the places that are not reserved. */
bool msd_door_has_place(const struct msd_edge *e, const struct msd_client_peer *p);
/** Why it has none, "PEER has as many connections as it may ...". */
void msd_door_say_full(const struct msd_edge *e, struct msd_peer_id who,
		       char why[static MSD_DOOR_WHY_BYTES]);
void msd_door_give_back(struct msd_edge *e, struct msd_client_peer *p);

#endif
