#ifndef MSD_SUPERVISOR_CULPRITS_H
#define MSD_SUPERVISOR_CULPRITS_H
/*
 * Offenders: peers or connections whose calls cost a module workers. Neither the
 * module nor other peers are at fault, so a frequent offender is banned for a while.
 * bans.h defines the scope of the ban. Uses no clock of its own.
 *
 * A loss with an unknown peer counts for no offender.
 */
#include "daemon/supervisor/request/peer_id.h"

#define MSD_CULPRITS_KEPT 8u          /* losses kept for one offender */
#define MSD_CULPRITS_WITHIN_MS 60000u /* so many losses within this time ... */
#define MSD_CULPRITS_BAR_MS 60000u    /* ... ban it for this time */
#define MSD_CULPRITS_PEERS 32u        /* maximum; drops the longest quiet */

struct msd_culprit {
	struct msd_peer_id who;
	uint64_t lost_ms[MSD_CULPRITS_KEPT]; /* times of the latest losses, a ring */
	uint32_t n_lost;
	uint64_t last_ms;
	uint64_t barred_until_ms; /* 0: not banned */
};

struct msd_culprits {
	struct msd_culprit all[MSD_CULPRITS_PEERS];
	uint32_t n; /* entries in use */
};

/**
 * Note that a worker was lost to a call of @who. True: this loss banned it, as number
 * @most (1 to MSD_CULPRITS_KEPT) within @within_ms.
 */
bool msd_culprits_note(struct msd_culprits *o, struct msd_peer_id who, uint32_t most,
		       uint64_t within_ms, uint64_t now_ms);
/** Return how long the ban of @who still lasts; 0: not banned. */
uint64_t msd_culprits_left_ms(const struct msd_culprits *o, struct msd_peer_id who,
			      uint64_t now_ms);

#endif
