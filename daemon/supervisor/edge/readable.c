#include "daemon/supervisor/edge/readable.h"

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session.h"
#include "daemon/supervisor/edge/standing.h"
#include "daemon/supervisor/keep/look.h"

/* A user who may load a module may return to its earlier editions, and so may read
 * them. */
static bool may_have(const void *of, const char *name)
{
	const struct msd_readable *r = of;
	const struct msd_acl_target target = {.module = msd_span_of(name)};

	return msd_acl_allows(r->acl, &r->grant, MSD_RIGHT_READ, &target) ||
	       msd_acl_allows(r->acl, &r->grant, MSD_RIGHT_LOAD, &target);
}

void msd_readable_begin(struct msd_readable *r, struct msd_session *s,
			struct msd_look *look)
{
	*r = (struct msd_readable){0};
	if (!msd_standing_is_ruled(s))
		return;
	r->acl = msd_acl_share(s->edge->rights.acl);
	r->grant = s->standing.grant;
	look->may_have = may_have;
	look->asker = r;
}

void msd_readable_end(struct msd_readable *r)
{
	msd_acl_destroy(r->acl);
	r->acl = NULL;
}
