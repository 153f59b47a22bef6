#ifndef MSD_SUPERVISOR_DEVICE_GAUGES_H
#define MSD_SUPERVISOR_DEVICE_GAUGES_H
/*
 * The load of this machine's GPUs, for the metrics. The supervisor touches no driver:
 * the first scrape starts a `modserd-worker --device-gauges`, which reports every
 * second until the daemon exits. Without an NVIDIA library the process exits at once
 * and is not started again. If it dies later, the next scrape starts it again.
 */
#include <uv.h>

#include "daemon/supervisor/facts/exposition.h"
#include "proto/base/bytes.h"

#define MSD_GAUGES_GPUS_MAX 64u
#define MSD_GAUGES_TEXT_MAX 96u /* maximum name length, including NUL */

struct msd_reaper;
struct msd_child;

struct msd_gpu_gauges {
	char index[8]; /* NVML's index, in decimal */
	char uuid[MSD_GAUGES_TEXT_MAX];
	char name[MSD_GAUGES_TEXT_MAX];
	uint64_t memory_bytes, used_bytes;
	bool has_utilization, tells_faults;
	uint64_t utilization; /* percent */
	uint64_t faults;      /* since its process started */
};

struct msd_device_gauges {
	struct msd_reaper *reaper; /* borrowed */
	char *worker_path;         /* borrowed */
	struct msd_child *child;   /* NULL: no process runs */
	bool is_absent;            /* a process exited before its first report */
	bool is_closed;
	struct msd_buf bytes; /* incomplete frame */
	struct msd_gpu_gauges gpu[MSD_GAUGES_GPUS_MAX];
	unsigned n_gpus; /* 0: no values are known */
};

/**
 * Initialize without values and without a process. @g must be zeroed; a machine
 * without GPUs never touches most of it. @worker_path is borrowed.
 */
void msd_device_gauges_init(struct msd_device_gauges *g, struct msd_reaper *reaper,
			    char *worker_path);
/**
 * Call it after the reaper was closed, which terminated the process. No process is
 * started any more.
 */
void msd_device_gauges_close(struct msd_device_gauges *g);
/** Free all memory; call it after the loop has stopped. */
void msd_device_gauges_finish(struct msd_device_gauges *g);
/** Append the families of the known values; the first call starts the process. */
void msd_device_gauges_put(struct msd_device_gauges *g, struct msd_exposition *x);

#endif
