#ifndef MSD_SUPERVISOR_THREADS_H
#define MSD_SUPERVISOR_THREADS_H
/* The threads that the supervisor depends on. They start before it serves: later, its
 * user may have reached the thread limit, which a module can cause. */
#include "daemon/child/starter.h"
#include "daemon/loop/work.h"
#include "proto/base/diag.h"

/* In addition to the threads of work.h, one starts processes and one writes the log. */
#define MSD_SUPERVISOR_THREADS                                                         \
	(MSD_WORK_STAY_INTERACTIVE + MSD_WORK_STAY_BULK + MSD_WORK_STAY_RELEASE + 2u)

/**
 * Start all threads except that of @starter, which is already open. Reading each of
 * the @n_files files at the start may hang, so each read gets its own thread. Errors:
 * MSD_BUSY (the system refused a thread).
 */
MSD_MUST_CHECK msd_err msd_threads_start(const struct msd_starter *starter,
					 unsigned n_files, struct msd_diag *d);

#endif
