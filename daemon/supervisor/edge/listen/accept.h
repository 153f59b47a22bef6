#ifndef MSD_SUPERVISOR_ACCEPT_H
#define MSD_SUPERVISOR_ACCEPT_H
/*
 * Decides whether a connection is accepted: the socket becomes a session, or the
 * client gets the reason and the socket is closed. The last connection slots are
 * reserved for the daemon's own user, and no peer gets all other slots.
 */
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/edge/edge.h"

/** Accept or reject the connection @fd. Takes @fd. */
void msd_accept_open(struct msd_edge *e, int fd, struct msd_principal who);

/**
 * Reserve a connection slot for @who, the peer of @fd, with a reference to it. The
 * caller releases both. NULL: rejected; the reason is in the log.
 */
struct msd_client_peer *msd_accept_reserve_slot(struct msd_edge *e, int fd,
						const struct msd_principal *who);
void msd_accept_release_slot(struct msd_edge *e, struct msd_client_peer *p);
/**
 * Close the accepted socket @fd of a rejected peer, from which nothing was read. Any
 * descriptors in it are closed on behalf of that peer.
 */
void msd_accept_reject(int fd);

#endif
