#ifndef MSD_SUPERVISOR_PORCH_H
#define MSD_SUPERVISOR_PORCH_H
/*
 * Where those stand who connect by TLS until it is known who they are. They have their
 * places among the connections from the beginning: half a handshake counts like a whole
 * connection, for the limits of all and of a peer.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/listen_socket.h"
#include "daemon/supervisor/edge/principal.h"

void msd_porch_init(struct msd_edge *e);
/** @who has connected by @fd, which is the porch's from here on, and will speak TLS.
 * @enter takes him over when it is known who he is; NULL: he speaks the protocol. */
void msd_porch_enter(struct msd_edge *e, int fd, const struct msd_principal *who,
		     msd_enter *enter);
/** End all that are there; they are gone after some turns of the loop. */
void msd_porch_close(struct msd_edge *e);
/** How many are there. */
uint64_t msd_porch_n(const struct msd_edge *e);
/** Append how many came to an end, and which, as `handshakes` of server.info. */
void msd_porch_put(const struct msd_edge *e, struct msd_buf *ret);
bool msd_porch_is_empty(const struct msd_edge *e);

#endif
