#ifndef MSD_SUPERVISOR_TLS_ACCEPT_H
#define MSD_SUPERVISOR_TLS_ACCEPT_H
/*
 * TLS accept: holds connections until their handshake is complete. They use
 * connection slots from the beginning: an unfinished handshake counts like a
 * connection, in total and per peer.
 */
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen/listen_socket.h"

void msd_tls_accept_init(struct msd_edge *e);
/**
 * Start a TLS handshake on the connection @fd of @who. Takes @fd. @enter takes over
 * the connection after the handshake. NULL: a session of the daemon's protocol.
 */
void msd_tls_accept_enter(struct msd_edge *e, int fd, const struct msd_principal *who,
			  msd_enter *enter);
/** End all handshakes. They are freed after some loop iterations. */
void msd_tls_accept_close(struct msd_edge *e);
/** Return the number of handshakes in progress. */
uint64_t msd_tls_accept_n(const struct msd_edge *e);
/** Append the counts of finished handshakes by result: `handshakes` of server.info. */
void msd_tls_accept_put(const struct msd_edge *e, struct msd_buf *ret);
bool msd_tls_accept_is_empty(const struct msd_edge *e);

#endif
