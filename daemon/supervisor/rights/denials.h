#ifndef MSD_SUPERVISOR_DENIALS_H
#define MSD_SUPERVISOR_DENIALS_H
/*
 * The last requests that were refused for want of a right, for `modser acl log`. Who is
 * refused the same again and again takes one place.
 */
#include "daemon/supervisor/rights/acl.h"
#include "proto/limits.h"
#include "proto/method.h"

#define MSD_DENIALS_MAX 256u
#define MSD_DENIAL_NAME_BYTES 129u /* longer names are cut */

struct msd_denial {
	uint64_t first_s, last_s; /* of the wall clock */
	uint64_t times;
	uint64_t connection; /* the last one's number */
	enum msd_method method;
	char user[MSD_MAX_NAME_BYTES + 1];
	char peer[65];
	char name[MSD_DENIAL_NAME_BYTES]; /* msd_denial_put_name() */
};

struct msd_denials {
	struct msd_denial *ring; /* owned; made with the first */
	uint32_t n, next;
	uint64_t total;
};

/** "module:function", "module" or "", cut where it is longer. */
void msd_denial_put_name(char ret[static MSD_DENIAL_NAME_BYTES],
			 const struct msd_acl_target *target);
/** Keep @d, whose times is 1. Without memory it is counted alone. */
void msd_denials_add(struct msd_denials *all, const struct msd_denial *d);
/** The @i-th, the oldest first; NULL behind the last. */
const struct msd_denial *msd_denials_at(const struct msd_denials *all, uint32_t i);
void msd_denials_finish(struct msd_denials *all);

#endif
