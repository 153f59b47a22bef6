#ifndef MSD_WORKER_QUEUE_H
#define MSD_WORKER_QUEUE_H
/* What takes requests from the worker's queue and runs them, a turn of the loop at a
 * time. */
#include "daemon/worker/worker.h"

struct msd_process_given;

/**
 * Make the worker on @loop and start reading from its channel. The descriptors of
 * @given are the worker's from now on.
 */
MSD_MUST_CHECK msd_err msd_worker_start(struct msd_worker *w, uv_loop_t *loop,
					const struct msd_process_given *given,
					struct msd_diag *d);

#endif
