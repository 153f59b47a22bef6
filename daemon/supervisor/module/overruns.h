#ifndef MSD_SUPERVISOR_OVERRUNS_H
#define MSD_SUPERVISOR_OVERRUNS_H
/*
 * Whose calls overran their deadlines so far that a module's worker was killed for it.
 * The module is not to blame, and neither are the others who call it: so whoever does
 * it often is barred for a while from giving the module calls with a deadline. Without
 * a clock of its own.
 *
 * Barred is a peer, not a connection; a kill whose peer is not known counts for none.
 */
#include "daemon/supervisor/request/peer_id.h"

#define MSD_OVERRUNS_MOST 3u          /* kills of a peer, ... */
#define MSD_OVERRUNS_WITHIN_MS 60000u /* ... within this time, ... */
#define MSD_OVERRUNS_BAR_MS 60000u    /* ... bar it for this time */
#define MSD_OVERRUNS_PEERS 32u        /* at a time; the longest quiet goes first */

struct msd_overrun_peer {
	struct msd_peer_id who;
	uint64_t kills_ms[MSD_OVERRUNS_MOST]; /* the latest ones, in a ring */
	uint32_t n_kills;
	uint64_t last_ms;
	uint64_t barred_until_ms; /* 0: it is not */
};

struct msd_overruns {
	struct msd_overrun_peer peers[MSD_OVERRUNS_PEERS];
	uint32_t n; /* of them that are in use */
};

/** A worker was killed for a call of @who. True: that barred it. */
bool msd_overruns_note(struct msd_overruns *o, struct msd_peer_id who, uint64_t now_ms);
/** How long @who is barred yet; 0: it is not. */
uint64_t msd_overruns_left_ms(const struct msd_overruns *o, struct msd_peer_id who,
			      uint64_t now_ms);

#endif
