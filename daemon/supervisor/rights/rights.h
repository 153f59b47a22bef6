#ifndef MSD_SUPERVISOR_RIGHTS_H
#define MSD_SUPERVISOR_RIGHTS_H
/* The rights of a daemon with an ACL file: its contents, the denials and the login
 * throttle. All zeros: no file, and each client has the rights of its transport. */
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/supervisor/rights/acl.h"
#include "daemon/supervisor/rights/denials.h"
#include "daemon/supervisor/rights/login_throttle.h"
#include "store/digest.h"

/* State of a user that outlives its connections and reloads of the file. */
struct msd_rights_user {
	char *name;
	struct msd_usage usage;
	struct msd_login_history
		proven; /* for a group: tokens of the group without a user */
};

enum msd_token_verdict {
	MSD_TOKEN_RIGHT,
	MSD_TOKEN_WRONG, /* unknown token, which is counted */
	MSD_TOKEN_WAIT
};

struct msd_rights {
	struct msd_acl *acl; /* NULL: no file */
	uint64_t generation; /* of acl: a grant of another generation must be computed
				again */
	struct msd_denials denials;
	struct msd_login_throttle guesses;
	struct msd_rights_user **users; /* users that were peers or limited; owned */
	uint32_t n_users;
};

#define MSD_AUTHORIZATION_CALL_BYTES 96u

/* The authorization state of a session: daemon/supervisor/edge/access/authorization.h.
 */
struct msd_authorization {
	struct msd_grant grant;
	struct msd_usage *usage; /* of its limited user; NULL: no limits */
	uint64_t generation; /* generation of the file that gave the grant; 0: none */
	/* The frontend authenticates each request: the credentials of the connection
	 * do not count. */
	bool is_by_request;
	bool has_token;
	struct msd_digest token;
	/* Start of the parameters of the last allowed call, up to its target: the
	 * same call is not checked again. */
	uint8_t call[MSD_AUTHORIZATION_CALL_BYTES];
	size_t n_call;
};

/**
 * Replace the previous file by @a, which @r then owns. Older grants must not be used
 * any more; the generation shows it.
 */
void msd_rights_set(struct msd_rights *r, struct msd_acl *a);
/**
 * Return the peer that the user of @g counts for on all connections. @otherwise if @g
 * is for no user of the file, or out of memory.
 */
struct msd_peer_id msd_rights_peer(struct msd_rights *r, const struct msd_grant *g,
				   struct msd_peer_id otherwise);
/**
 * Return the use of the user of @g so far; it lives as long as @r. *@ret is NULL if
 * the user has no limits. False: out of memory.
 */
MSD_MUST_CHECK bool msd_rights_usage(struct msd_rights *r, const struct msd_grant *g,
				     struct msd_usage **ret);
/**
 * Return the name of the user of @g, always the same pointer; it lives as long as @r.
 * NULL: no user, or out of memory.
 */
const char *msd_rights_owner(struct msd_rights *r, const struct msd_grant *g);
/**
 * Check @token from @from at @now_ms; @g is its grant by the file. While @from must
 * wait for its wrong tokens, the result is MSD_TOKEN_WAIT for right and wrong tokens,
 * except a token that it presented lately. A right token is recorded.
 */
MSD_MUST_CHECK enum msd_token_verdict msd_rights_judge(struct msd_rights *r,
						       const struct msd_grant *g,
						       struct msd_peer_id from,
						       const struct msd_digest *token,
						       uint64_t now_ms);
void msd_rights_finish(struct msd_rights *r);

#endif
