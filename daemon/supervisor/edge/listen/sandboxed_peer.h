#ifndef MSD_SUPERVISOR_SANDBOXED_PEER_H
#define MSD_SUPERVISOR_SANDBOXED_PEER_H
/*
 * Detects peers that connect to a unix socket from inside a module's sandbox. Their
 * code is not trusted but would have the rights of the daemon's user. Each has a mark
 * that it cannot remove (daemon/mark.h), and the daemon rejects it.
 */
#include "daemon/supervisor/edge/edge.h"

enum msd_connected {
	MSD_CONNECTED_FREE,
	/* A sandboxed process. Also a process of the daemon's user that exited before
	 * the check, while its end is still open. */
	MSD_CONNECTED_CONFINED,
	MSD_CONNECTED_LEFT, /* such a process that exited, and its end is closed */
};

/** Classify the peer of the unix socket @fd. */
enum msd_connected msd_sandboxed_peer_look(int fd);
/** Close @fd of a sandboxed peer; count and log it. */
void msd_sandboxed_peer_refuse(struct msd_edge *e, int fd);

#endif
