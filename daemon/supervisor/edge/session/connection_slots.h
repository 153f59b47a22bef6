#ifndef MSD_SUPERVISOR_CONNECTION_SLOTS_H
#define MSD_SUPERVISOR_CONNECTION_SLOTS_H
/* Connection slots: some are reserved for the daemon's own user. A part of the rest
 * is always left for the next peer. */
#include "daemon/supervisor/edge/edge.h"

struct msd_client_peer;
struct msd_limits;

#define MSD_CONNECTION_SLOTS_WHY_BYTES 200u

/** Return the number of slots reserved for the daemon's own user. */
uint64_t msd_connection_slots_reserved(const struct msd_limits *limits);
/** Return the number of slots in use. */
uint64_t msd_connection_slots_taken(const struct msd_edge *e);
/**
 * True if @p may have one more slot: its fair share
 * (daemon/supervisor/request/budget.h) of the unreserved slots that other peers
 * leave.
 */
bool msd_connection_slots_has_one(const struct msd_edge *e,
				  const struct msd_client_peer *p);
/** Format why @who gets no slot: "PEER has as many connections as it may ...". */
void msd_connection_slots_say_full(const struct msd_edge *e, struct msd_peer_id who,
				   char why[static MSD_CONNECTION_SLOTS_WHY_BYTES]);

#endif
