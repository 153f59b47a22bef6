#ifndef MSD_SUPERVISOR_WHY_H
#define MSD_SUPERVISOR_WHY_H
/* Reject reason: one text for many requests that were refused. */
#include "daemon/supervisor/request/request.h"

struct msd_why {
	uint32_t refs;
	struct msd_diag d;
};

/**
 * Create a copy of @d, which has a text, with one reference. NULL: out of memory; the
 * answers then say so.
 */
struct msd_why *msd_why_new(const struct msd_diag *d);
/** Add a reference; @why may be NULL. */
struct msd_why *msd_why_ref(struct msd_why *why);
/** Drop a reference; @why may be NULL. */
void msd_why_unref(struct msd_why *why);
/** Answer @r, which is QUEUED, with the reason and free it; @why may be NULL. */
void msd_why_refuse(struct msd_why *why, struct msd_req *r);

#endif
