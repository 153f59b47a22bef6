#ifndef MSD_WORKER_GRAPHS_H
#define MSD_WORKER_GRAPHS_H
/* What became of the regions of a model that its compiler made for CUDA graphs, for
 * whoever reads the worker's log. */
#include "daemon/worker/worker.h"

/** The first region that cannot be captured is told, once. */
void msd_graphs_tell(struct msd_worker *w);

#endif
