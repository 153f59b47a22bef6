#ifndef MSD_RUNTIME_DEVICE_NVML_H
#define MSD_RUNTIME_DEVICE_NVML_H
/*
 * Reads NVIDIA's management library for all cards of this machine, also those that
 * CUDA does not see. Source of names and layouts: nvml.h of the driver; functions
 * with a version in their names do not change.
 *
 * One thread. The library is opened and never closed.
 */
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/diag.h"

#define MSD_NVML_TEXT_MAX 96u /* NVML_DEVICE_NAME_V2_BUFFER_SIZE, with its NUL */
#define MSD_NVML_GPUS_MAX 64u

struct msd_nvml_gpu {
	char uuid[MSD_NVML_TEXT_MAX];
	char name[MSD_NVML_TEXT_MAX];
	bool tells_faults; /* the driver reports faults */
	uint64_t faults;   /* critical errors (Xid) since msd_nvml_open() */
	void *device;      /* nvmlDevice_t */
};

struct msd_nvml {
	struct msd_nvml_gpu gpu[MSD_NVML_GPUS_MAX]; /* in NVML's order */
	unsigned n_gpus;
	void *events; /* nvmlEventSet_t; NULL: none */
};

struct msd_nvml_reading {
	uint64_t memory_bytes, used_bytes; /* 0 if the card does not report it */
	bool has_utilization;              /* a card with MIG has none */
	unsigned utilization;              /* percent of the last sampling period */
};

/**
 * Find the library ($MODSERD_LIBNVML, else libnvidia-ml.so.1) and the cards. Errors:
 * MSD_UNSUPPORTED (no library, or it does not start).
 */
MSD_MUST_CHECK msd_err msd_nvml_open(struct msd_nvml *ret, struct msd_diag *d);
/** Read the current state of @gpu. */
void msd_nvml_read(const struct msd_nvml_gpu *gpu, struct msd_nvml_reading *ret);
/** Wait @ms, and count the faults that arrive in that time. */
void msd_nvml_wait(struct msd_nvml *n, unsigned ms);

#endif
