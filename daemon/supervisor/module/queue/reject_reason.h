#ifndef MSD_SUPERVISOR_REJECT_REASON_H
#define MSD_SUPERVISOR_REJECT_REASON_H
/* Reject reason: one text for many requests that were refused. */
#include "daemon/supervisor/request/request.h"

struct msd_reject_reason {
	uint32_t refs;
	struct msd_diag d;
};

/**
 * Create a copy of @d, which has a text, with one reference. NULL: out of memory; the
 * answers then say so.
 */
struct msd_reject_reason *msd_reject_reason_new(const struct msd_diag *d);
/** Add a reference; @why may be NULL. */
struct msd_reject_reason *msd_reject_reason_ref(struct msd_reject_reason *why);
/** Drop a reference; @why may be NULL. */
void msd_reject_reason_unref(struct msd_reject_reason *why);
/** Answer @r, which is QUEUED, with the reason and free it; @why may be NULL. */
void msd_reject_reason_refuse(struct msd_reject_reason *why, struct msd_req *r);

#endif
