#ifndef MSD_SUPERVISOR_GUESSES_H
#define MSD_SUPERVISOR_GUESSES_H
/*
 * Who shows tokens that are none, and how long that peer has to wait before another one
 * of its tokens is looked at: not at all for the first few, then twice as long after
 * each. Nobody else waits, nor does a token that the peer
 * has shown before (proven.h). Without a clock of its own.
 */
#include "daemon/supervisor/request/peer_id.h"

#define MSD_GUESSES_FREE 4u            /* of a peer that are not waited for */
#define MSD_GUESSES_WAIT_MS 1000u      /* after the next one */
#define MSD_GUESSES_WAIT_MAX_MS 60000u /* at most */
#define MSD_GUESSES_FORGET_MS 300000u  /* a peer without a guess is like a new one */
#define MSD_GUESSES_PEERS 64u          /* at a time; the longest quiet goes first */

struct msd_guesser {
	struct msd_peer_id who;
	uint32_t n;
	uint64_t last_ms, until_ms;
};

struct msd_guesses {
	struct msd_guesser peers[MSD_GUESSES_PEERS];
	uint32_t n;
};

/** How long @who has to wait yet; 0: not at all. */
uint64_t msd_guesses_left_ms(const struct msd_guesses *g, struct msd_peer_id who,
			     uint64_t now_ms);
/** @who has shown a token that is none. */
void msd_guesses_note(struct msd_guesses *g, struct msd_peer_id who, uint64_t now_ms);

#endif
