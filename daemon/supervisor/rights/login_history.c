#include "daemon/supervisor/rights/login_history.h"

static bool is_it(const struct msd_login_history_place *place, struct msd_peer_id from,
		  const struct msd_digest *token)
{
	return place->from.kind != MSD_PEER_NOBODY &&
	       msd_peer_id_is(place->from, from) &&
	       msd_digest_equal(&place->token, token);
}

void msd_login_history_note(struct msd_login_history *p, struct msd_peer_id from,
			    const struct msd_digest *token, uint64_t now_ms)
{
	struct msd_login_history_place *place = &p->places[0];

	for (unsigned i = 0; i < MSD_LOGIN_HISTORY_PLACES; i++) {
		if (is_it(&p->places[i], from, token)) {
			place = &p->places[i];
			break;
		}
		if (p->places[i].at_ms < place->at_ms)
			place = &p->places[i];
	}
	*place = (struct msd_login_history_place){from, *token, now_ms};
}

bool msd_login_history_has(const struct msd_login_history *p, struct msd_peer_id from,
			   const struct msd_digest *token, uint64_t now_ms)
{
	for (unsigned i = 0; i < MSD_LOGIN_HISTORY_PLACES; i++) {
		if (is_it(&p->places[i], from, token))
			return now_ms - p->places[i].at_ms <= MSD_LOGIN_HISTORY_MS;
	}
	return false;
}
