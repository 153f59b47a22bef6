#ifndef MSD_SUPERVISOR_CONFINED_H
#define MSD_SUPERVISOR_CONFINED_H
/*
 * Who connects to a unix socket out of a module's sandbox: code of somebody else that
 * would have the rights of the daemon's own user. It is known by a mark that it cannot
 * take off (daemon/mark.h), and has no place here.
 */
#include "daemon/supervisor/edge/edge.h"

enum msd_connected {
	MSD_CONNECTED_FREE,
	/* A process of a sandbox, or one of the daemon's own user of which that cannot
	 * be found out because it is gone, with its end still open. */
	MSD_CONNECTED_CONFINED,
	MSD_CONNECTED_LEFT, /* likewise, and nobody has the other end any more */
};

/** Who has connected the unix socket @fd? */
enum msd_connected msd_confined_look(int fd);
/** Close @fd, of who is confined: counted, and told to the log. */
void msd_confined_refuse(struct msd_edge *e, int fd);

#endif
