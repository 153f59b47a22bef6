#ifndef MSD_WORKER_GAUGES_H
#define MSD_WORKER_GAUGES_H
/*
 * `modserd-worker --device-gauges`: every second one frame on standard output, a
 * response whose result is an array of a row for each card: [index, uuid, name,
 * memory, memory in use (bytes), utilization in percent or nil, faults or nil]. Its
 * reader is daemon/supervisor/facts/device_gauges.h.
 */

/** Write them until the reader closes. Returns the exit status. */
int msd_gauges_print(void);

#endif
