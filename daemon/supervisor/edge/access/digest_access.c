#include "daemon/supervisor/edge/access/digest_access.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/keep/lookup.h"

/* A user who may load a module may return to its earlier editions, and so may read
 * them. */
static bool may_have(const void *of, const char *name)
{
	const struct msd_digest_access *r = of;
	const struct msd_acl_target target = {.module = msd_span_of(name)};

	return msd_acl_allows(r->acl, &r->grant, MSD_RIGHT_READ, &target) ||
	       msd_acl_allows(r->acl, &r->grant, MSD_RIGHT_LOAD, &target);
}

void msd_digest_access_begin(struct msd_digest_access *r, struct msd_session *s,
			     struct msd_store_lookup *look)
{
	*r = (struct msd_digest_access){0};
	if (!msd_authorization_is_ruled(s))
		return;
	r->acl = msd_acl_share(s->edge->rights.acl);
	r->grant = s->authorization.grant;
	look->may_have = may_have;
	look->asker = r;
}

void msd_digest_access_end(struct msd_digest_access *r)
{
	msd_acl_destroy(r->acl);
	r->acl = NULL;
}
