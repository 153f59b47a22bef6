#ifndef MSD_WORKER_GRAPHS_H
#define MSD_WORKER_GRAPHS_H
/* Logs the state of model regions that the compiler made for CUDA graphs. */
#include "daemon/worker/worker.h"

/** Log the first region that cannot be captured, once. */
void msd_graphs_tell(struct msd_worker *w);

#endif
