#include "daemon/supervisor/module/overruns.h"

#include <stddef.h>

static struct msd_overrun_peer *find(struct msd_overruns *o, struct msd_peer_id who)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (msd_peer_id_is(o->peers[i].who, who))
			return &o->peers[i];
	}
	return NULL;
}

/* A place for somebody new: one that is free, or that of the longest quiet. */
static struct msd_overrun_peer *place(struct msd_overruns *o)
{
	struct msd_overrun_peer *oldest = &o->peers[0];

	if (o->n < MSD_OVERRUNS_PEERS)
		return &o->peers[o->n++];
	for (uint32_t i = 1; i < o->n; i++) {
		if (o->peers[i].last_ms < oldest->last_ms)
			oldest = &o->peers[i];
	}
	return oldest;
}

bool msd_overruns_note(struct msd_overruns *o, struct msd_peer_id who, uint64_t now_ms)
{
	struct msd_overrun_peer *p;

	if (who.kind == MSD_PEER_NOBODY)
		return false;
	p = find(o, who);
	if (p == NULL) {
		p = place(o);
		*p = (struct msd_overrun_peer){.who = who};
	}
	p->last_ms = now_ms;
	p->kills_ms[p->n_kills++ % MSD_OVERRUNS_MOST] = now_ms;
	if (p->n_kills < MSD_OVERRUNS_MOST ||
	    now_ms - p->kills_ms[p->n_kills % MSD_OVERRUNS_MOST] >=
		    MSD_OVERRUNS_WITHIN_MS)
		return false;
	p->barred_until_ms = now_ms + MSD_OVERRUNS_BAR_MS;
	p->n_kills = 0; /* the count begins anew behind the bar */
	return true;
}

uint64_t msd_overruns_left_ms(const struct msd_overruns *o, struct msd_peer_id who,
			      uint64_t now_ms)
{
	for (uint32_t i = 0; i < o->n; i++) {
		const struct msd_overrun_peer *p = &o->peers[i];
		if (msd_peer_id_is(p->who, who) && p->barred_until_ms > now_ms)
			return p->barred_until_ms - now_ms;
	}
	return 0;
}
