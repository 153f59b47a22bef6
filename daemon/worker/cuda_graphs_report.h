#ifndef MSD_WORKER_CUDA_GRAPHS_REPORT_H
#define MSD_WORKER_CUDA_GRAPHS_REPORT_H
/* Logs the state of model regions that the compiler made for CUDA graphs. */
#include "daemon/worker/worker.h"

/** Log the first region that cannot be captured, once. */
void msd_cuda_graphs_report(struct msd_worker *w);

#endif
