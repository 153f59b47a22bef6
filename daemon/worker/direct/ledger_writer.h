#ifndef MSD_WORKER_LEDGER_WRITER_H
#define MSD_WORKER_LEDGER_WRITER_H
/* Writes the ledger (daemon/segments/ledger.h) in the worker: which request runs, and
 * the results of direct peers' calls. The supervisor counts its own requests itself. */
#include "daemon/worker/worker.h"

/** A direct peer's request @r has arrived. */
void msd_ledger_writer_come(struct msd_worker *w, const struct msd_request *r);
/** @r runs next. */
void msd_ledger_writer_begin(struct msd_worker *w, const struct msd_request *r);
/** Record its function, which was not known before, in case it ends the worker. */
void msd_ledger_writer_name(struct msd_worker *w, const struct msd_request *r);
/** It is answered with @code, an msd_err. MSD_ERR_COUNT: its client no longer waits. */
void msd_ledger_writer_end(struct msd_worker *w, const struct msd_request *r,
			   unsigned code);

#endif
