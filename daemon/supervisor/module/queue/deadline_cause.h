#ifndef MSD_SUPERVISOR_DEADLINE_CAUSE_H
#define MSD_SUPERVISOR_DEADLINE_CAUSE_H
/* Explain why a request missed its deadline: how long it waited, and for which
 * request. */
#include "daemon/supervisor/request/request.h"

/**
 * Explain it for @r, which is queued or was sent to a worker, at @now_ms in loop
 * time. Sets @d to MSD_DEADLINE.
 */
void msd_deadline_cause_explain(const struct msd_req *r, uint64_t now_ms,
				struct msd_diag *d);

#endif
