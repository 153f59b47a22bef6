#ifndef MSD_SUPERVISOR_RIGHTS_H
#define MSD_SUPERVISOR_RIGHTS_H
/*
 * The rights of a daemon that has a file of them: what it says by now, who was refused,
 * who guesses tokens. All zeros: there is no file, and everybody has what the way in
 * gives.
 */
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/rights/acl.h"
#include "daemon/supervisor/rights/denials.h"
#include "daemon/supervisor/rights/guesses.h"
#include "daemon/supervisor/rights/proven.h"
#include "store/digest.h"

/* What is kept of a user whatever becomes of its connections and the file. */
struct msd_rights_user {
	char *name;
	struct msd_usage usage;
	struct msd_proven proven; /* of a group: of those that are its alone */
};

enum msd_token_verdict {
	MSD_TOKEN_RIGHT,
	MSD_TOKEN_WRONG, /* it is nobody's, which counts */
	MSD_TOKEN_WAIT
};

struct msd_rights {
	struct msd_acl *acl; /* NULL: none */
	uint64_t generation; /* of acl: a grant of another one is to be found anew */
	struct msd_denials denials;
	struct msd_guesses guesses;
	struct msd_rights_user **users; /* that were peers, or limited; owned */
	uint32_t n_users;
};

#define MSD_STANDING_CALL_BYTES 96u

/* What a session has by it: edge/standing.h. */
struct msd_standing {
	struct msd_grant grant;
	struct msd_usage *usage; /* of its user, who is limited; NULL: it is not */
	uint64_t generation;     /* of the file by which it was found; 0: it was not */
	/* Of a front that knows who asks each request: what its connection has shown
	 * says nothing. */
	bool is_by_request;
	bool has_token;
	struct msd_digest token;
	/* How the parameters of the last call began that was allowed, its target
	 * included: who calls the same again is not looked up again. */
	uint8_t call[MSD_STANDING_CALL_BYTES];
	size_t n_call;
};

/** @a takes the place of what was read before, and is owned. Grants of that must not be
 * used any more: the generation tells. */
void msd_rights_take(struct msd_rights *r, struct msd_acl *a);
/** As whom the user of @g is counted, wherever it comes from; @otherwise for who is no
 * user of the file, and when memory is short. */
struct msd_peer_id msd_rights_peer(struct msd_rights *r, const struct msd_grant *g,
				   struct msd_peer_id otherwise);
/** What the user of @g has used by now, for as long as @r; *@ret is NULL for who is not
 * limited. False: memory is short. */
MSD_MUST_CHECK bool msd_rights_usage(struct msd_rights *r, const struct msd_grant *g,
				     struct msd_usage **ret);
/** The name of the user of @g, the same pointer each time, for as long as @r; NULL: it
 * is none, or memory is short. */
const char *msd_rights_owner(struct msd_rights *r, const struct msd_grant *g);
/** What comes of it that @from shows @token, whose grant by the file is @g, at @now_ms.
 * While it has to wait for its wrong ones it is told so whether this one would be right
 * or not, unless it has shown it of late, which is noted. */
MSD_MUST_CHECK enum msd_token_verdict msd_rights_judge(struct msd_rights *r,
						       const struct msd_grant *g,
						       struct msd_peer_id from,
						       const struct msd_digest *token,
						       uint64_t now_ms);
void msd_rights_finish(struct msd_rights *r);

#endif
