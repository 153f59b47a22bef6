#ifndef MSD_WORKER_GAUGES_H
#define MSD_WORKER_GAUGES_H

/*
 * `modserd-worker --device-gauges`: every second one frame on standard output, a
 * response whose result is an array of a row for each card: [index, uuid, name,
 * memory, memory in use (bytes), utilization in percent or nil, faults or nil]. Its
 * reader is daemon/supervisor/facts/device_gauges.h.
 */

#include "daemon/worker/worker.h"

/** Write them until the reader closes. Returns the exit status. */
int msd_gauges_print(void);

/* Logs the state of model regions that the compiler made for CUDA graphs. */

/** Log the first region that cannot be captured, once. */
void msd_cuda_graphs_report(struct msd_worker *w);

#endif
