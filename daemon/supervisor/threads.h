#ifndef MSD_SUPERVISOR_THREADS_H
#define MSD_SUPERVISOR_THREADS_H
/* The threads that the supervisor depends on. They start before it serves: later, its
 * user may have reached the thread limit, which a module can cause. */
#include "daemon/child/starter.h"
#include "daemon/loop/work.h"
#include "proto/base/diag.h"

/* In addition to the threads of work.h, three threads start processes, write the log
 * and trim memory. */
#define MSD_SUPERVISOR_THREADS (MSD_WORK_STAY_PROMPT + MSD_WORK_STAY_BULK + 3u)

/**
 * Start all threads except that of @starter, which is already open. Reading each of
 * the @n_files files at the start may hang, so each read gets its own thread. Errors:
 * MSD_BUSY (the system refused a thread).
 */
MSD_MUST_CHECK msd_err msd_threads_start(const struct msd_starter *starter,
					 uv_loop_t *loop, unsigned n_files,
					 struct msd_diag *d);

#endif
