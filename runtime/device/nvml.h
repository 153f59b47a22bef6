#ifndef MSD_RUNTIME_DEVICE_NVML_H
#define MSD_RUNTIME_DEVICE_NVML_H
/*
 * What NVIDIA's management library tells of the cards of this machine, all of them,
 * whichever CUDA may see. Source of names and layouts: nvml.h of the driver, whose
 * functions with a version in their names stay as they are.
 *
 * One thread. The library is opened where it is; the process keeps it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/diag.h"

#define MSD_NVML_TEXT_MAX 96u /* NVML_DEVICE_NAME_V2_BUFFER_SIZE, with its NUL */
#define MSD_NVML_GPUS_MAX 64u

struct msd_nvml_gpu {
	char uuid[MSD_NVML_TEXT_MAX];
	char name[MSD_NVML_TEXT_MAX];
	bool tells_faults; /* its driver does */
	uint64_t faults;   /* critical errors (Xid) since msd_nvml_open() */
	void *device;      /* nvmlDevice_t */
};

struct msd_nvml {
	struct msd_nvml_gpu gpu[MSD_NVML_GPUS_MAX]; /* in NVML's order */
	unsigned n_gpus;
	void *events; /* nvmlEventSet_t; NULL: none */
};

struct msd_nvml_reading {
	uint64_t memory_bytes, used_bytes; /* 0 when it does not tell */
	bool has_utilization;              /* with MIG a card has none */
	unsigned utilization;              /* percent of the last sampling period */
};

/** Find the library ($MODSERD_LIBNVML, else libnvidia-ml.so.1) and the cards. Errors:
 * MSD_UNSUPPORTED (no library, none that starts). */
MSD_MUST_CHECK msd_err msd_nvml_open(struct msd_nvml *ret, struct msd_diag *d);
/** What @gpu says now. */
void msd_nvml_read(const struct msd_nvml_gpu *gpu, struct msd_nvml_reading *ret);
/** Wait @ms, and count the faults that come meanwhile. */
void msd_nvml_wait(struct msd_nvml *n, unsigned ms);

#endif
