#ifndef MSD_SUPERVISOR_PLACES_H
#define MSD_SUPERVISOR_PLACES_H
/* The places that there are for connections: some are the daemon's own user's, and of
 * the others some are left for the next peer, whoever came before. */
#include "daemon/supervisor/edge/edge.h"

struct msd_client_peer;
struct msd_limits;

#define MSD_PLACES_WHY_BYTES 200u

/** Those that are the daemon's own user's. */
uint64_t msd_places_reserved(const struct msd_limits *limits);
/** Those that somebody has. */
uint64_t msd_places_taken(const struct msd_edge *e);
/** @p may have one more beside those that it has: its part (request/part.h) of what
 * others leave of the places that are not reserved. */
bool msd_places_has_one(const struct msd_edge *e, const struct msd_client_peer *p);
/** Why there is none for @who: "PEER has as many connections as it may ...". */
void msd_places_say_full(const struct msd_edge *e, struct msd_peer_id who,
			 char why[static MSD_PLACES_WHY_BYTES]);

#endif
