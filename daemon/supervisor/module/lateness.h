#ifndef MSD_SUPERVISOR_LATENESS_H
#define MSD_SUPERVISOR_LATENESS_H
/* Why a request was not done by its deadline: what part of it was waiting, and for
 * whom. */
#include "daemon/supervisor/request/request.h"

/** Say it of @r, which is queued for a worker or was sent to one, at @now_ms of the
 * loop's time. Sets @d to MSD_DEADLINE. */
void msd_lateness_explain(const struct msd_req *r, uint64_t now_ms, struct msd_diag *d);

#endif
