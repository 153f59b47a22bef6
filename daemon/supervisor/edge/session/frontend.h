#ifndef MSD_SUPERVISOR_FRONTEND_H
#define MSD_SUPERVISOR_FRONTEND_H
/* Turns connections into sessions. dispatch.h handles the frames; the end of the
 * connection releases everything that the session held. */
#include "daemon/stream/transport.h"
#include "daemon/supervisor/edge/access/principal.h"
#include "daemon/supervisor/edge/edge.h"

/** Initialize the fields that @e owns. The server has set its fields before. */
void msd_frontend_init(struct msd_edge *e);
/**
 * Open a session for a connection of @who with the peer @peer. Closes the connection
 * on failure.
 */
void msd_frontend_open(struct msd_edge *e, struct msd_transport transport,
		       struct msd_principal who, struct msd_client_peer *peer);
/** Send @why to a connection that exceeds the limit, and close it. */
void msd_frontend_refuse(struct msd_edge *e, struct msd_transport transport,
			 struct msd_principal who, struct msd_client_peer *peer,
			 const char *why);

#endif
