#include "daemon/supervisor/module/queue/blame.h"

bool msd_culprits_note(struct msd_culprits *o, struct msd_peer_id who, uint32_t most,
		       uint64_t within_ms, uint64_t now_ms)
{
	struct msd_culprit *p;

	if (who.kind == MSD_PEER_UNKNOWN)
		return false;
	p = MSD_PEER_TABLE_GET(o->all, who, now_ms);
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
	const struct msd_culprit *p = MSD_PEER_TABLE_FIND(o->all, who);

	return p != NULL && p->barred_until_ms > now_ms ? p->barred_until_ms - now_ms
							: 0;
}
