#ifndef MSD_SUPERVISOR_CULPRITS_H
#define MSD_SUPERVISOR_CULPRITS_H
/*
 * Whose calls cost a module workers. Neither the module nor the others who call it are
 * to blame for that: so a culprit whose calls do it often is barred for a while. What
 * it is barred from is bars.h's to say. Without a clock of its own.
 *
 * A culprit is a peer, or one connection; a loss whose peer is not known counts for
 * none.
 */
#include "daemon/supervisor/request/peer_id.h"

#define MSD_CULPRITS_KEPT 8u          /* losses of one that are remembered */
#define MSD_CULPRITS_WITHIN_MS 60000u /* so many within this time, ... */
#define MSD_CULPRITS_BAR_MS 60000u    /* ... bar it for this time */
#define MSD_CULPRITS_PEERS 32u        /* at a time; the longest quiet goes first */

struct msd_culprit {
	struct msd_peer_id who;
	uint64_t lost_ms[MSD_CULPRITS_KEPT]; /* when: the latest ones, in a ring */
	uint32_t n_lost;
	uint64_t last_ms;
	uint64_t barred_until_ms; /* 0: it is not */
};

struct msd_culprits {
	struct msd_culprit all[MSD_CULPRITS_PEERS];
	uint32_t n; /* of them that are in use */
};

/** A worker was lost to a call of @who. True: that barred it, for it was the @most-th
 * (1 to MSD_CULPRITS_KEPT) within @within_ms. */
bool msd_culprits_note(struct msd_culprits *o, struct msd_peer_id who, uint32_t most,
		       uint64_t within_ms, uint64_t now_ms);
/** How long @who is barred yet; 0: it is not. */
uint64_t msd_culprits_left_ms(const struct msd_culprits *o, struct msd_peer_id who,
			      uint64_t now_ms);

#endif
