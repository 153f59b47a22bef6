#ifndef MSD_WORKER_QUEUE_H
#define MSD_WORKER_QUEUE_H
/* Takes requests from the worker's queue and runs them, in each loop iteration. */
#include "daemon/worker/worker.h"

struct msd_process_given;

/**
 * Make the worker on @loop and start to read its channel. The worker owns the
 * descriptors of @given from now on.
 */
MSD_MUST_CHECK msd_err msd_worker_start(struct msd_worker *w, uv_loop_t *loop,
					const struct msd_process_given *given,
					struct msd_diag *d);

#endif
