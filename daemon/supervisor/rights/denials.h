#ifndef MSD_SUPERVISOR_DENIALS_H
#define MSD_SUPERVISOR_DENIALS_H
/* The last requests that were denied for a missing right, for `modser acl log`.
 * Repeated denials share one entry. */
#include "daemon/supervisor/rights/acl.h"
#include "proto/limits.h"
#include "proto/method.h"

#define MSD_DENIALS_MAX 256u
#define MSD_DENIAL_NAME_BYTES 129u /* longer names are truncated */

struct msd_denial {
	uint64_t first_s, last_s; /* wall clock, seconds */
	uint64_t times;
	uint64_t connection; /* number of the last connection */
	enum msd_method method;
	char user[MSD_MAX_NAME_BYTES + 1];
	char peer[65];
	char name[MSD_DENIAL_NAME_BYTES]; /* msd_denial_put_name() */
};

struct msd_denials {
	struct msd_denial *ring; /* owned; allocated with the first entry */
	uint32_t n, next;
	uint64_t total;
};

/** Format "module:function", "module" or "", truncated if too long. */
void msd_denial_put_name(char ret[static MSD_DENIAL_NAME_BYTES],
			 const struct msd_acl_target *target);
/** Store @d, which has times = 1. Without memory it is only counted. */
void msd_denials_add(struct msd_denials *all, const struct msd_denial *d);
/** Return entry @i, the oldest first. NULL after the last. */
const struct msd_denial *msd_denials_at(const struct msd_denials *all, uint32_t i);
void msd_denials_finish(struct msd_denials *all);

#endif
