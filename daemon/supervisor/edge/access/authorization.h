#ifndef MSD_SUPERVISOR_AUTHORIZATION_H
#define MSD_SUPERVISOR_AUTHORIZATION_H
/*
 * Authorization of a session if the daemon has an ACL file (rights/acl.h). Its user
 * is determined at its first request, when it presents a token, and after a reload of
 * the file. Without a file only the principal counts.
 */
#include "daemon/stream/conn.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/request/peer_id.h"
#include "proto/method.h"

/** Return the peer that the connection @fd of @who counts for. */
struct msd_peer_id msd_authorization_peer(struct msd_edge *e, int fd,
					  const struct msd_principal *who);
/**
 * Check if @s may call @method with the parameters of @in, before any other work. The
 * only place for this check. Rejections are counted and recorded. Errors:
 * MSD_REFUSED, whether the target exists or not; MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_authorization_ask(struct msd_session *s,
					     const struct msd_in *in,
					     enum msd_method method,
					     struct msd_diag *d);
/**
 * Check if the session of @c may still make the waiting request @r, because the ACL
 * file may have been reloaded since. Errors: MSD_REFUSED.
 */
MSD_MUST_CHECK msd_err msd_authorization_may_still(struct msd_client *c,
						   const struct msd_req *r,
						   struct msd_diag *d);
/**
 * Count a request of @s to a worker, with a payload of @bytes, for its user, if the
 * file limits that. Errors: MSD_BUSY, with the retry time.
 */
MSD_MUST_CHECK msd_err msd_authorization_spend(struct msd_session *s, uint64_t bytes,
					       enum msd_method method,
					       struct msd_diag *d);
/**
 * Check if @s may hold @bytes more of resident tensors, over all workers. Errors:
 * MSD_BUSY.
 */
MSD_MUST_CHECK msd_err msd_authorization_keep(struct msd_session *s, uint64_t bytes,
					      struct msd_diag *d);
/** Set the owner of @load to the user of @s and the user's limit of modules. */
void msd_authorization_sign(struct msd_session *s, struct msd_load *load);
/**
 * Give @s the grant @g by the current file and count it for that user. For a frontend
 * that authenticates each request. @token, or NULL, finds the user again after a
 * reload. Errors: those of msd_authorization_show().
 */
MSD_MUST_CHECK msd_err msd_authorization_set(struct msd_session *s,
					     const struct msd_grant *g,
					     const struct msd_digest *token,
					     struct msd_diag *d);
/** True if @s has the right for at least one name. */
bool msd_authorization_has(struct msd_session *s, enum msd_right right);
/** True if the calls of @s are restricted to names. */
bool msd_authorization_is_ruled(struct msd_session *s);
/** True if @s may call this function. */
bool msd_authorization_may_call(struct msd_session *s, struct msd_span module,
				struct msd_span function);
/** True if @s may know of the module @name. */
bool msd_authorization_sees(struct msd_session *s, const char *name);
/**
 * Return the name of @s for people: "alice", "anonymous", "uid 1000". Borrowed, or in
 * @room. It has no side effects: @s is not counted or closed for it.
 */
const char *msd_authorization_name(const struct msd_session *s,
				   char room[static MSD_PEER_TEXT_BYTES]);
/**
 * Make @s the user of @token and count it for that user. Ignored without an ACL file.
 * Errors, without a change: MSD_REFUSED (unknown token; the transport is not
 * encrypted), MSD_BUSY (too many wrong tokens: wait; the user has too many
 * connections), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_authorization_show(struct msd_session *s,
					      struct msd_span token,
					      struct msd_diag *d);

#endif
