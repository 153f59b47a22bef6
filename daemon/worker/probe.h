#ifndef MSD_WORKER_PROBE_H
#define MSD_WORKER_PROBE_H
/*
 * Gets signatures from foreign code that may crash or hang in the query. A child
 * forked after the load queries first; only queries that it survived are repeated in
 * the worker. So constructors run once, and only the child's progress passes between
 * the processes. A function that kills the child has an unknown signature, but the
 * module is still usable.
 */
#include "runtime/load/loaded.h"

/** Get the signatures of @m's functions, where that is safe. */
MSD_MUST_CHECK msd_err msd_probe_signatures(struct msd_loaded *m, struct msd_diag *d);

#endif
