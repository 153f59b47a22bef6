#include "daemon/supervisor/module/queue/blame.h"

#include <stddef.h>

static struct msd_culprit *find(struct msd_culprits *o, struct msd_peer_id who)
{
	for (uint32_t i = 0; i < o->n; i++) {
		if (msd_peer_id_is(o->all[i].who, who))
			return &o->all[i];
	}
	return NULL;
}

/* Return an entry for a new offender: a free one, or the one that was quiet longest. */
static struct msd_culprit *place(struct msd_culprits *o)
{
	struct msd_culprit *oldest = &o->all[0];

	if (o->n < MSD_CULPRITS_PEERS)
		return &o->all[o->n++];
	for (uint32_t i = 1; i < o->n; i++) {
		if (o->all[i].last_ms < oldest->last_ms)
			oldest = &o->all[i];
	}
	return oldest;
}

bool msd_culprits_note(struct msd_culprits *o, struct msd_peer_id who, uint32_t most,
		       uint64_t within_ms, uint64_t now_ms)
{
	struct msd_culprit *p;

	if (who.kind == MSD_PEER_NOBODY)
		return false;
	p = find(o, who);
	if (p == NULL) {
		p = place(o);
		*p = (struct msd_culprit){.who = who};
	}
	p->last_ms = now_ms;
	p->lost_ms[p->n_lost++ % MSD_CULPRITS_KEPT] = now_ms;
	if (p->n_lost < most ||
	    now_ms - p->lost_ms[(p->n_lost - most) % MSD_CULPRITS_KEPT] >= within_ms)
		return false;
	p->barred_until_ms = now_ms + MSD_CULPRITS_BAR_MS;
	p->n_lost = 0; /* the count restarts after the ban */
	return true;
}

uint64_t msd_culprits_left_ms(const struct msd_culprits *o, struct msd_peer_id who,
			      uint64_t now_ms)
{
	for (uint32_t i = 0; i < o->n; i++) {
		const struct msd_culprit *p = &o->all[i];
		if (msd_peer_id_is(p->who, who) && p->barred_until_ms > now_ms)
			return p->barred_until_ms - now_ms;
	}
	return 0;
}
