#include "daemon/supervisor/edge/session/connection_slots.h"

#include <stdio.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/request/budget.h"

/* At most half of all slots: with few slots, other clients must still get some. */
uint64_t msd_connection_slots_reserved(const struct msd_limits *limits)
{
	const uint64_t half = limits->max_connections / 2;

	return limits->reserved_connections < half ? limits->reserved_connections
						   : half;
}

uint64_t msd_connection_slots_taken(const struct msd_edge *e)
{
	return (uint64_t)e->n_sessions + e->n_leaving;
}

bool msd_connection_slots_has_one(const struct msd_edge *e,
				  const struct msd_client_peer *p)
{
	const struct msd_limits *limits = e->limits;
	const uint64_t taken = msd_connection_slots_taken(e), own = p->n_connections;

	return own < msd_fair_share_of(limits->max_connections -
					       msd_connection_slots_reserved(limits),
				       taken > own ? taken - own : 0,
				       limits->max_peer_connections);
}

void msd_connection_slots_say_full(const struct msd_edge *e, struct msd_peer_id who,
				   char why[static MSD_CONNECTION_SLOTS_WHY_BYTES])
{
	char text[MSD_PEER_TEXT_BYTES];

	(void)snprintf(why, MSD_CONNECTION_SLOTS_WHY_BYTES,
		       "%s has the maximum of connections (--max-peer-connections "
		       "%llu, or its share of the free ones): close some",
		       msd_peer_id_text(who, text),
		       (unsigned long long)e->limits->max_peer_connections);
}
