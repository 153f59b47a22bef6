#ifndef MSD_SUPERVISOR_DIGEST_ACCESS_H
#define MSD_SUPERVISOR_DIGEST_ACCESS_H
/*
 * The modules whose bytes a client may read, for requests that name bytes of the
 * store only by digest. The store thread checks this while the ACL file may be
 * reloaded.
 */

#include "daemon/supervisor/rights/acl.h"

struct msd_store_lookup;
struct msd_session;

struct msd_digest_access {
	struct msd_acl *acl; /* ACL of the request; shared; NULL: all allowed */
	struct msd_grant grant;
};

/**
 * Restrict @look, which has not started, to modules that @s may read or load. Call
 * msd_digest_access_end() after the look has ended or was not started.
 */
void msd_digest_access_begin(struct msd_digest_access *r, struct msd_session *s,
			     struct msd_store_lookup *look);
/** Call on the loop thread, like msd_digest_access_begin(). */
void msd_digest_access_end(struct msd_digest_access *r);

#endif
