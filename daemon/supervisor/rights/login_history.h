#ifndef MSD_SUPERVISOR_LOGIN_HISTORY_H
#define MSD_SUPERVISOR_LOGIN_HISTORY_H
/*
 * Login history: the peers from which a user's tokens were presented lately. Such a
 * token is checked even while the peer must wait because of wrong tokens
 * (login_throttle.h). All users of a machine or a proxy may be one peer, and one of
 * them may present wrong tokens all day. Each user has its own entries, so that other
 * users cannot evict them. The caller passes the time. All zeros: no entries.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "store/digest.h"

#define MSD_LOGIN_HISTORY_PLACES                                                       \
	8u /* entries per user; the longest unused is replaced */
#define MSD_LOGIN_HISTORY_MS                                                           \
	3600000u /* an entry is valid this long after its last use */
#define MSD_LOGIN_HISTORY_NOTE_MS 60000u /* a younger entry need not be updated */

struct msd_login_history_place {
	struct msd_peer_id from; /* MSD_PEER_NOBODY: unused entry */
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
