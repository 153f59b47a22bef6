#ifndef MSD_SUPERVISOR_LOGIN_THROTTLE_H
#define MSD_SUPERVISOR_LOGIN_THROTTLE_H
/*
 * Login throttle: how long a peer that presented wrong tokens must wait until the
 * next one is checked. The first few are free, then the wait doubles. Other peers do
 * not wait, nor does a token that the peer has presented before (login_history.h). The
 * caller passes the time.
 */
#include "daemon/supervisor/request/peer_id.h"

#define MSD_LOGIN_THROTTLE_FREE 4u            /* wrong tokens per peer without a wait */
#define MSD_LOGIN_THROTTLE_WAIT_MS 1000u      /* wait after the next one */
#define MSD_LOGIN_THROTTLE_WAIT_MAX_MS 60000u /* maximum wait */
#define MSD_LOGIN_THROTTLE_FORGET_MS 300000u  /* then the peer starts anew */
#define MSD_LOGIN_THROTTLE_PEERS 64u /* tracked; the longest quiet is replaced */

struct msd_login_throttle_peer {
	struct msd_peer_id who;
	uint32_t n;
	uint64_t last_ms, until_ms;
};

struct msd_login_throttle {
	struct msd_login_throttle_peer peers[MSD_LOGIN_THROTTLE_PEERS];
	uint32_t n;
};

/** Return how long @who must still wait. 0: not at all. */
uint64_t msd_login_throttle_left_ms(const struct msd_login_throttle *g,
				    struct msd_peer_id who, uint64_t now_ms);
/** Count a wrong token of @who. */
void msd_login_throttle_note(struct msd_login_throttle *g, struct msd_peer_id who,
			     uint64_t now_ms);

#endif
