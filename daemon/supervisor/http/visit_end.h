#ifndef MSD_SUPERVISOR_VISIT_END_H
#define MSD_SUPERVISOR_VISIT_END_H
/* What a visit holds, and its end. */
#include "daemon/supervisor/http/visit_state.h"

/** What it holds is counted as its peer's. */
void msd_visit_charge(struct msd_visit *v);
/** Close it now; it is freed on a later turn. Idempotent. */
void msd_visit_close(struct msd_visit *v, const char *why);
/** It is closed, and no thread works with what it holds any more: free it. */
void msd_visit_destroy(struct msd_visit *v);

#endif
