#ifndef MSD_SUPERVISOR_BLAME_H
#define MSD_SUPERVISOR_BLAME_H

/* The peers whose calls cost a module its workers (bans.h decides what follows). */

#include "daemon/supervisor/request/peer_table.h"
#include "daemon/supervisor/request/request.h"

/*
 * Offenders: peers or connections whose calls cost a module workers. Neither the
 * module nor other peers are at fault, so a frequent offender is banned for a while.
 * bans.h defines the scope of the ban. Uses no clock of its own.
 *
 * A loss with an unknown peer counts for no offender.
 */

#define MSD_CULPRITS_KEPT 8u          /* losses kept for one offender */
#define MSD_CULPRITS_WITHIN_MS 60000u /* so many losses within this time ... */
#define MSD_CULPRITS_BAR_MS 60000u    /* ... ban it for this time */
#define MSD_CULPRITS_PEERS 32u        /* maximum; drops the longest quiet */

struct msd_culprit {
	struct msd_peer_entry peer;
	uint64_t lost_ms[MSD_CULPRITS_KEPT]; /* times of the latest losses, a ring */
	uint32_t n_lost;
	uint64_t barred_until_ms; /* 0: not banned */
};

struct msd_culprits {
	struct msd_culprit all[MSD_CULPRITS_PEERS]; /* a peer table */
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

#define MSD_BANS_MOST 3u /* losses that one connection, or deadlines, may cost */

struct msd_bans {
	struct msd_culprits late;        /* peers, losses by their deadlines */
	struct msd_culprits deadly;      /* peers, all other losses */
	struct msd_culprits connections; /* connections, all other losses */
	uint64_t until_ms;               /* no ban lasts longer */
	uint32_t n_died; /* workers that died by themselves of peers' calls */
};

/* The origin of a call. */
struct msd_blame {
	struct msd_peer_id who; /* MSD_PEER_UNKNOWN: unknown, or not caused by a call */
	uint64_t connection;    /* connection number; 0: unknown */
};

/** Return the origin of @r, with or without its client set. */
static inline struct msd_blame msd_blame_of(const struct msd_req *r)
{
	const struct msd_client *c = r->client.who;

	return c != NULL ? (struct msd_blame){c->peer, c->number}
			 : (struct msd_blame){.who = r->client.peer};
}

#endif
