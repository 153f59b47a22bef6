#ifndef MSD_SUPERVISOR_STANDING_H
#define MSD_SUPERVISOR_STANDING_H
/*
 * What a session may do, where the daemon has a file of rights (rights/acl.h): who it
 * is, found when it first asks for something, again when it shows a token, and when the
 * file was read again. Without such a file the principal alone says.
 */
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/request/peer_id.h"
#include "daemon/wire/conn.h"
#include "proto/method.h"

/** As whom the peer of the socket @fd is counted, by which @who comes in. */
struct msd_peer_id msd_standing_peer(struct msd_edge *e, int fd,
				     const struct msd_principal *who);
/**
 * May @s ask for @method with the parameters of @in? It is the one place where that is
 * asked, before anything is done for a request. What is refused is counted and kept.
 * Errors: MSD_REFUSED, whether what was asked for is there or not; MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_standing_ask(struct msd_session *s, const struct msd_in *in,
					enum msd_method method, struct msd_diag *d);
/** Might @c, a session's, ask for @r now, which waits to be told something? The file of
 * rights may have been read again since it began. Errors: MSD_REFUSED. */
MSD_MUST_CHECK msd_err msd_standing_may_still(struct msd_client *c,
					      const struct msd_req *r,
					      struct msd_diag *d);
/** One request more of @s, to a module's worker: counted for its user, where the file
 * limits that. Errors: MSD_BUSY, with when to try again. */
MSD_MUST_CHECK msd_err msd_standing_spend(struct msd_session *s,
					  const struct msd_in *in,
					  enum msd_method method, struct msd_diag *d);
/** May @s have @bytes more of resident tensors, in all workers? Errors: MSD_BUSY. */
MSD_MUST_CHECK msd_err msd_standing_keep(struct msd_session *s, uint64_t bytes,
					 struct msd_diag *d);
/** @load is of @s: its user's, who may have so many. */
void msd_standing_sign(struct msd_session *s, struct msd_load *load);
/** @s is who has @g by the file of rights as it is, and counted so: of a front that
 * knows each request's asker. It has shown @token, or none (NULL), by which it is found
 * again when the file has changed. Errors: those of msd_standing_show(). */
MSD_MUST_CHECK msd_err msd_standing_take(struct msd_session *s,
					 const struct msd_grant *g,
					 const struct msd_digest *token,
					 struct msd_diag *d);
/** Has @s the right, for some name at least? */
bool msd_standing_has(struct msd_session *s, enum msd_right right);
/** Is what @s may call a matter of names? */
bool msd_standing_is_ruled(struct msd_session *s);
/** May @s call this function? */
bool msd_standing_may_call(struct msd_session *s, struct msd_span module,
			   struct msd_span function);
/** May @s know of the module @name? */
bool msd_standing_sees(struct msd_session *s, const char *name);
/** Who @s is, for people: "alice", "anonymous", "uid 1000". Borrowed, or in @room. It
 * is looked at alone: who is asked about is not counted or ended for it. */
const char *msd_standing_name(const struct msd_session *s,
			      char room[static MSD_PEER_TEXT_BYTES]);
/**
 * @s is whose @token is, from here on, and counted so. Without a file of rights it is
 * passed over. Errors, nothing has changed then: MSD_REFUSED (nobody's; a transport
 * that others can read), MSD_BUSY (too many wrong ones: wait; that user has as many
 * connections as it may), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_standing_show(struct msd_session *s, struct msd_span token,
					 struct msd_diag *d);

#endif
