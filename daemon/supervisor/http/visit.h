#ifndef MSD_SUPERVISOR_VISIT_H
#define MSD_SUPERVISOR_VISIT_H
/*
 * One connection of the HTTP front: requests are read, answered in their order and
 * written. It is owned by the loop from its opening on and frees itself.
 *
 * It lives by the rules of all connections: a place at the door, an account of what it
 * holds, turns, and the watch's times. While an answer is not written nothing is read,
 * so what it holds is one body and its answers to what was read at once.
 *
 *   OPEN --an error, Connection: close, the peer's end--> ENDING --all is written-->
 *   LINGERING --the peer has read it and closed--> (freed)
 */
#include "daemon/supervisor/http/http.h"
#include "daemon/wire/transport.h"

struct msd_client_peer;

/** Take over a connection of @who, with @peer's reference and place at the door. */
void msd_visit_open(struct msd_http *h, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer);

#endif
