#ifndef MSD_SUPERVISOR_VISIT_END_H
#define MSD_SUPERVISOR_VISIT_END_H
/* The memory accounting of an HTTP connection, and its end. */
#include "daemon/supervisor/http/visit_state.h"

/** Charge its memory to its peer. */
void msd_visit_charge(struct msd_visit *v);
/** Close it now; it is freed in a later loop iteration. Idempotent. */
void msd_visit_close(struct msd_visit *v, const char *why);
/** Free it; it must be closed, and no thread may use its data. */
void msd_visit_destroy(struct msd_visit *v);

#endif
