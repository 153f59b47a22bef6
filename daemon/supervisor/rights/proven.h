#ifndef MSD_SUPERVISOR_PROVEN_H
#define MSD_SUPERVISOR_PROVEN_H
/*
 * Login history: the peers from which a user's tokens were presented lately. Such a
 * token is checked even while the peer must wait because of wrong tokens (guesses.h).
 * All users of a machine or a proxy may be one peer, and one of them may present
 * wrong tokens all day. Each user has its own entries, so that other users cannot
 * evict them. The caller passes the time. All zeros: no entries.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "store/digest.h"

#define MSD_PROVEN_PLACES 8u      /* entries per user; the longest unused is replaced */
#define MSD_PROVEN_MS 3600000u    /* an entry is valid this long after its last use */
#define MSD_PROVEN_NOTE_MS 60000u /* a younger entry need not be updated */

struct msd_proven_place {
	struct msd_peer_id from; /* MSD_PEER_NOBODY: unused entry */
	struct msd_digest token;
	uint64_t at_ms;
};

struct msd_proven {
	struct msd_proven_place places[MSD_PROVEN_PLACES];
};

/** Record that @from presented @token, a valid token of this user. */
void msd_proven_note(struct msd_proven *p, struct msd_peer_id from,
		     const struct msd_digest *token, uint64_t now_ms);
/** True if @from presented @token and the entry is still valid. */
bool msd_proven_has(const struct msd_proven *p, struct msd_peer_id from,
		    const struct msd_digest *token, uint64_t now_ms);

#endif
