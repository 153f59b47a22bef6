#ifndef MSD_SUPERVISOR_FRONT_H
#define MSD_SUPERVISOR_FRONT_H
/*
 * Between the connections and what is asked on them: a connection becomes a session,
 * whose frames are intake.h's; its end takes all along that the session had.
 */
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/principal.h"
#include "daemon/wire/transport.h"

/** Prepare what is @e's own; what is the server's stands there. */
void msd_front_init(struct msd_edge *e);
/** Take over a connection of @who, whose peer is @peer. Closes it on failure. */
void msd_front_open(struct msd_edge *e, struct msd_transport transport,
		    struct msd_principal who, struct msd_client_peer *peer);
/** Take over a connection that is one too many: it is told @why, and closed. */
void msd_front_refuse(struct msd_edge *e, struct msd_transport transport,
		      struct msd_principal who, struct msd_client_peer *peer,
		      const char *why);

#endif
