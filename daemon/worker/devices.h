#ifndef MSD_WORKER_DEVICES_H
#define MSD_WORKER_DEVICES_H
/* `modserd-worker --devices`: look for devices, in a process that may crash in that. */
#include <stddef.h>

/**
 * Write one response body (proto/body.h) to standard output: {"devices": [{"device",
 * "name", "platform", "capability", "driver", "memory_bytes", "compute_units"}],
 * "absent": [why a backend has none], "machine", and lists of names, "eras", "kinds",
 * "symbols", "slots", "packed_functions": formats that this build runs, and functions
 * that it provides or that one of the @plugins lists}. Returns the exit code.
 */
int msd_devices_print(char *const *plugins, size_t n_plugins);

#endif
