#ifndef MSD_SUPERVISOR_UNLOAD_H
#define MSD_SUPERVISOR_UNLOAD_H
/* Unloads on a daemon with a store: first the record on the disk, then the module
 * (keep/keep.h). */
#include "daemon/supervisor/edge/methods/method.h"

/** module.unload: the removed module does not return when the daemon starts again. */
MSD_MUST_CHECK msd_err msd_unload_stored(struct msd_method_call *c,
					 struct msd_module *m, struct msd_diag *d);

#endif
