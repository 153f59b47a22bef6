#include "daemon/supervisor/rights/login_throttle.h"

uint64_t msd_login_throttle_left_ms(const struct msd_login_throttle *g,
				    struct msd_peer_id who, uint64_t now_ms)
{
	const struct msd_login_throttle_peer *p = MSD_PEER_TABLE_FIND(g->peers, who);

	return p != NULL && p->until_ms > now_ms ? p->until_ms - now_ms : 0;
}

static uint64_t wait_ms(uint32_t n)
{
	uint64_t wait = MSD_LOGIN_THROTTLE_WAIT_MS;

	if (n <= MSD_LOGIN_THROTTLE_FREE)
		return 0;
	for (uint32_t i = MSD_LOGIN_THROTTLE_FREE + 1;
	     i < n && wait < MSD_LOGIN_THROTTLE_WAIT_MAX_MS; i++)
		wait *= 2;
	return wait < MSD_LOGIN_THROTTLE_WAIT_MAX_MS ? wait
						     : MSD_LOGIN_THROTTLE_WAIT_MAX_MS;
}

void msd_login_throttle_note(struct msd_login_throttle *g, struct msd_peer_id who,
			     uint64_t now_ms)
{
	struct msd_login_throttle_peer *p = MSD_PEER_TABLE_FIND(g->peers, who);
	const bool is_old =
		p != NULL && now_ms - p->peer.used > MSD_LOGIN_THROTTLE_FORGET_MS;

	p = MSD_PEER_TABLE_GET(g->peers, who, now_ms);
	p->n = is_old ? 1 : p->n + 1;
	p->until_ms = now_ms + wait_ms(p->n);
}

static bool is_it(const struct msd_login_history_place *place, struct msd_peer_id from,
		  const struct msd_digest *token)
{
	return place->from.kind != MSD_PEER_UNKNOWN &&
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
