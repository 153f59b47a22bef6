#ifndef MSD_WORKER_SCRIBE_H
#define MSD_WORKER_SCRIBE_H
/* What the worker writes into the ledger (daemon/wire/ledger.h): whose request runs,
 * and what became of its guests' calls. What the supervisor itself asked for it counts
 * itself. */
#include "daemon/worker/worker.h"

/** A guest's @r has come. */
void msd_scribe_come(struct msd_worker *w, const struct msd_request *r);
/** @r is run next. */
void msd_scribe_begin(struct msd_worker *w, const struct msd_request *r);
/** Its function, which was not known then, is: should it end the worker. */
void msd_scribe_name(struct msd_worker *w, const struct msd_request *r);
/** It is answered with @code, an msd_err, or nobody waits any more: MSD_ERR_COUNT. */
void msd_scribe_end(struct msd_worker *w, const struct msd_request *r, unsigned code);

#endif
