#ifndef MSD_WORKER_PROBE_H
#define MSD_WORKER_PROBE_H
/*
 * Signatures from foreign code that may crash or hang when it is asked. A child forked
 * after the load asks first; only what it survived is asked again here. So constructors
 * run once, nothing crosses between the processes but how far the child got, and a
 * function that kills the child has an unknown signature in a good module.
 */
#include "runtime/load/loaded.h"

/** Learn the signatures of @m's functions as far as they can be had safely. */
MSD_MUST_CHECK msd_err msd_probe_signatures(struct msd_loaded *m, struct msd_diag *d);

#endif
