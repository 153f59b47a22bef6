#ifndef MSD_SUPERVISOR_WHY_H
#define MSD_SUPERVISOR_WHY_H
/* Why something was not done, which many are told: one text for all of them. */
#include "daemon/supervisor/request/request.h"

struct msd_why {
	uint32_t refs;
	struct msd_diag d;
};

/** One reference; a copy of @d, which has a text. NULL: out of memory, which is then
 * told instead. */
struct msd_why *msd_why_new(const struct msd_diag *d);
/** One reference more; @why may be NULL. */
struct msd_why *msd_why_ref(struct msd_why *why);
/** One less; @why may be NULL. */
void msd_why_unref(struct msd_why *why);
/** Answer @r, which is QUEUED, with it and free it; @why may be NULL. */
void msd_why_refuse(struct msd_why *why, struct msd_req *r);

#endif
