#ifndef MSD_SUPERVISOR_LOGIN_THROTTLE_H
#define MSD_SUPERVISOR_LOGIN_THROTTLE_H

/*
 * Login throttle: how long a peer that presented wrong tokens must wait until the
 * next one is checked. The first few are free, then the wait doubles. Other peers do
 * not wait, nor does a token that the peer has presented before (struct
 * msd_login_history). The caller passes the time.
 */

#include "daemon/supervisor/request/peer_table.h"
#include "store/digest.h"

#define MSD_LOGIN_THROTTLE_FREE 4u            /* wrong tokens per peer without a wait */
#define MSD_LOGIN_THROTTLE_WAIT_MS 1000u      /* wait after the next one */
#define MSD_LOGIN_THROTTLE_WAIT_MAX_MS 60000u /* maximum wait */
#define MSD_LOGIN_THROTTLE_FORGET_MS 300000u  /* then the peer starts anew */
#define MSD_LOGIN_THROTTLE_PEERS 64u /* tracked; the longest quiet is replaced */

struct msd_login_throttle_peer {
	struct msd_peer_entry peer;
	uint32_t n;
	uint64_t until_ms;
};

struct msd_login_throttle {
	struct msd_login_throttle_peer
		peers[MSD_LOGIN_THROTTLE_PEERS]; /* a peer table */
};

/** Return how long @who must still wait. 0: not at all. */
uint64_t msd_login_throttle_left_ms(const struct msd_login_throttle *g,
				    struct msd_peer_id who, uint64_t now_ms);
/** Count a wrong token of @who. */
void msd_login_throttle_note(struct msd_login_throttle *g, struct msd_peer_id who,
			     uint64_t now_ms);

/*
 * Login history: the peers from which a user's tokens were presented lately. Such a
 * token is checked even while the peer must wait because of wrong tokens
 * (login_throttle.h). All users of a machine or a proxy may be one peer, and one of
 * them may present wrong tokens all day. Each user has its own entries, so that other
 * users cannot evict them. The caller passes the time. All zeros: no entries.
 */

#define MSD_LOGIN_HISTORY_PLACES                                                       \
	8u /* entries per user; the longest unused is replaced */
#define MSD_LOGIN_HISTORY_MS                                                           \
	3600000u /* an entry is valid this long after its last use */
#define MSD_LOGIN_HISTORY_NOTE_MS 60000u /* a younger entry need not be updated */

struct msd_login_history_place {
	struct msd_peer_id from; /* MSD_PEER_UNKNOWN: unused entry */
	struct msd_digest token;
	uint64_t at_ms;
};

struct msd_login_history {
	struct msd_login_history_place places[MSD_LOGIN_HISTORY_PLACES];
};

/** Record that @from presented @token, a valid token of this user. */
void msd_login_history_note(struct msd_login_history *p, struct msd_peer_id from,
			    const struct msd_digest *token, uint64_t now_ms);
/** True if @from presented @token and the entry is still valid. */
bool msd_login_history_has(const struct msd_login_history *p, struct msd_peer_id from,
			   const struct msd_digest *token, uint64_t now_ms);

#endif
