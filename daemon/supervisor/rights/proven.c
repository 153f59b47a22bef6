#include "daemon/supervisor/rights/proven.h"

static bool is_it(const struct msd_proven_place *place, struct msd_peer_id from,
		  const struct msd_digest *token)
{
	return place->from.kind != MSD_PEER_NOBODY &&
	       msd_peer_id_is(place->from, from) &&
	       msd_digest_equal(&place->token, token);
}

void msd_proven_note(struct msd_proven *p, struct msd_peer_id from,
		     const struct msd_digest *token, uint64_t now_ms)
{
	struct msd_proven_place *place = &p->places[0];

	for (unsigned i = 0; i < MSD_PROVEN_PLACES; i++) {
		if (is_it(&p->places[i], from, token)) {
			place = &p->places[i];
			break;
		}
		if (p->places[i].at_ms < place->at_ms)
			place = &p->places[i];
	}
	*place = (struct msd_proven_place){from, *token, now_ms};
}

bool msd_proven_has(const struct msd_proven *p, struct msd_peer_id from,
		    const struct msd_digest *token, uint64_t now_ms)
{
	for (unsigned i = 0; i < MSD_PROVEN_PLACES; i++) {
		if (is_it(&p->places[i], from, token))
			return now_ms - p->places[i].at_ms <= MSD_PROVEN_MS;
	}
	return false;
}
