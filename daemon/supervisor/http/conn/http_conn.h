#ifndef MSD_SUPERVISOR_HTTP_CONN_H
#define MSD_SUPERVISOR_HTTP_CONN_H
/*
 * One HTTP connection: requests are read, answered in order and written. The loop
 * owns it after it is opened, and it frees itself.
 *
 * The rules of all connections apply: a connection slot, a memory account, a share of
 * each loop iteration, and timeouts. While a reply is not written, nothing is read.
 * Its memory is therefore limited to one body and the replies to one read.
 *
 *   OPEN --an error, Connection: close, the peer's end--> ENDING --all is written-->
 *   LINGERING --the peer has read it and closed--> (freed)
 */
#include "daemon/stream/transport.h"
#include "daemon/supervisor/http/http.h"

struct msd_client_peer;

/** Take over a connection of @who, with @peer's reference and connection slot. */
void msd_http_conn_open(struct msd_http *h, struct msd_transport transport,
			struct msd_principal who, struct msd_client_peer *peer);

#endif
