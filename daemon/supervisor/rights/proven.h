#ifndef MSD_SUPERVISOR_PROVEN_H
#define MSD_SUPERVISOR_PROVEN_H
/*
 * Where the tokens of a user were shown of late. There they are looked at while that
 * peer has to wait for others' wrong ones (guesses.h): all users of a machine, or of a
 * proxy, may be one peer, and one of them can show wrong tokens all day. A user has
 * places of its own, so that nobody else can have it forgotten. Without a clock of its
 * own; all zeros: nowhere.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "store/digest.h"

#define MSD_PROVEN_PLACES 8u      /* of a user; the longest unused goes first */
#define MSD_PROVEN_MS 3600000u    /* it holds, from the last time */
#define MSD_PROVEN_NOTE_MS 60000u /* what is as young need not be noted again */

struct msd_proven_place {
	struct msd_peer_id from; /* NOBODY: it is free */
	struct msd_digest token;
	uint64_t at_ms;
};

struct msd_proven {
	struct msd_proven_place places[MSD_PROVEN_PLACES];
};

/** @token, which is this user's, was shown by @from. */
void msd_proven_note(struct msd_proven *p, struct msd_peer_id from,
		     const struct msd_digest *token, uint64_t now_ms);
/** It was, and that holds. */
bool msd_proven_has(const struct msd_proven *p, struct msd_peer_id from,
		    const struct msd_digest *token, uint64_t now_ms);

#endif
