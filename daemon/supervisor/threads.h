#ifndef MSD_SUPERVISOR_THREADS_H
#define MSD_SUPERVISOR_THREADS_H
/* All threads that the supervisor cannot do without. They are started before it serves:
 * later, its user may have no thread left, and modules may see to that. */
#include "daemon/child/starter.h"
#include "daemon/wire/work.h"
#include "proto/diag.h"

/* Beside those of work.h they start processes, write the log and give memory back. */
#define MSD_SUPERVISOR_THREADS (MSD_WORK_STAY_PROMPT + MSD_WORK_STAY_BULK + 3u)

/** Start them, but for that of @starter, which was opened; each of @n_files that are
 * loaded at the start may hang, and gets one when it is read. MSD_BUSY: the system
 * refuses one. */
MSD_MUST_CHECK msd_err msd_threads_start(const struct msd_starter *starter,
					 uv_loop_t *loop, unsigned n_files,
					 struct msd_diag *d);

#endif
