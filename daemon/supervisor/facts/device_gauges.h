#ifndef MSD_SUPERVISOR_DEVICE_GAUGES_H
#define MSD_SUPERVISOR_DEVICE_GAUGES_H
/*
 * What the cards of this machine are doing, for the metrics. The supervisor touches no
 * driver: from the first scrape on a `modserd-worker --device-gauges` tells it every
 * second, for as long as the daemon is there. Where there is none of NVIDIA's
 * libraries it ends at once and is not started again; one that dies later is, by the
 * next scrape.
 */
#include <uv.h>

#include "daemon/supervisor/facts/exposition.h"
#include "proto/bytes.h"

#define MSD_GAUGES_GPUS_MAX 64u
#define MSD_GAUGES_TEXT_MAX 96u /* of a name, with its NUL */

struct msd_reaper;
struct msd_child;

struct msd_gpu_gauges {
	char index[8]; /* NVML's, in digits */
	char uuid[MSD_GAUGES_TEXT_MAX];
	char name[MSD_GAUGES_TEXT_MAX];
	uint64_t memory_bytes, used_bytes;
	bool has_utilization, tells_faults;
	uint64_t utilization; /* percent */
	uint64_t faults;      /* since its process began */
};

struct msd_device_gauges {
	struct msd_reaper *reaper; /* borrowed */
	char *worker_path;         /* borrowed */
	struct msd_child *child;   /* NULL: none runs */
	bool is_absent;            /* one ended before it had told anything */
	bool is_closed;
	struct msd_buf bytes; /* of a frame that is not whole */
	struct msd_gpu_gauges gpu[MSD_GAUGES_GPUS_MAX];
	unsigned n_gpus; /* 0: nothing is known */
};

/** Nothing is known, nothing runs: @g is zeros before, most of which a machine without
 * cards never touches. @worker_path is borrowed. */
void msd_device_gauges_init(struct msd_device_gauges *g, struct msd_reaper *reaper,
			    char *worker_path);
/** After the reaper was closed, which ended the process: nothing is started any more.
 */
void msd_device_gauges_close(struct msd_device_gauges *g);
/** Free what is left; after the loop has ended. */
void msd_device_gauges_finish(struct msd_device_gauges *g);
/** Append the families of what is known; who asks first starts the process. */
void msd_device_gauges_put(struct msd_device_gauges *g, struct msd_exposition *x);

#endif
