#include "daemon/supervisor/rights/login_throttle.h"

#include <stddef.h>

static struct msd_login_throttle_peer *find(struct msd_login_throttle *g,
					    struct msd_peer_id who)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (msd_peer_id_is(g->peers[i].who, who))
			return &g->peers[i];
	}
	return NULL;
}

/* Return a free entry, or the entry of the peer that has been quiet for longest. */
static struct msd_login_throttle_peer *place(struct msd_login_throttle *g)
{
	struct msd_login_throttle_peer *oldest = &g->peers[0];

	if (g->n < MSD_LOGIN_THROTTLE_PEERS)
		return &g->peers[g->n++];
	for (uint32_t i = 1; i < g->n; i++) {
		if (g->peers[i].last_ms < oldest->last_ms)
			oldest = &g->peers[i];
	}
	return oldest;
}

uint64_t msd_login_throttle_left_ms(const struct msd_login_throttle *g,
				    struct msd_peer_id who, uint64_t now_ms)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct msd_login_throttle_peer *p = &g->peers[i];
		if (msd_peer_id_is(p->who, who) && p->until_ms > now_ms)
			return p->until_ms - now_ms;
	}
	return 0;
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
	struct msd_login_throttle_peer *p = find(g, who);

	if (p == NULL) {
		p = place(g);
		*p = (struct msd_login_throttle_peer){.who = who};
	} else if (now_ms - p->last_ms > MSD_LOGIN_THROTTLE_FORGET_MS) {
		p->n = 0;
	}
	p->n++;
	p->last_ms = now_ms;
	p->until_ms = now_ms + wait_ms(p->n);
}

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
