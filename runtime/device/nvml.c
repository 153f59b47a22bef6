/*
 * Happy path: the library is opened and started; each card is named and registered
 * for critical error events; a wait waits for these events. Failures: a missing
 * symbol (an older driver) counts as no library; a card that does not answer is
 * listed without numbers.
 */
#include "runtime/device/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/clock.h"

#define LIBRARY "libnvidia-ml.so.1"
#define NVML_SUCCESS 0
#define NVML_XID_CRITICAL_ERROR 0x8ull

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned gpu, memory;
};

struct nvml_event {
	void *device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};

static struct {
	int (*init)(void);
	const char *(*error_string)(int code);
	int (*count)(unsigned *ret);
	int (*device)(unsigned index, void **ret);
	int (*uuid)(void *device, char *ret, unsigned n);
	int (*name)(void *device, char *ret, unsigned n);
	int (*memory)(void *device, struct nvml_memory *ret);
	int (*utilization)(void *device, struct nvml_utilization *ret);
	int (*events_create)(void **ret);
	int (*events_register)(void *device, unsigned long long types, void *events);
	int (*events_wait)(void *events, struct nvml_event *ret, unsigned ms);
} api;

static const struct {
	const char *name;
	void *to; /* a member of api */
} symbols[] = {
	{"nvmlInit_v2", &api.init},
	{"nvmlErrorString", &api.error_string},
	{"nvmlDeviceGetCount_v2", &api.count},
	{"nvmlDeviceGetHandleByIndex_v2", &api.device},
	{"nvmlDeviceGetUUID", &api.uuid},
	{"nvmlDeviceGetName", &api.name},
	{"nvmlDeviceGetMemoryInfo", &api.memory},
	{"nvmlDeviceGetUtilizationRates", &api.utilization},
	{"nvmlEventSetCreate", &api.events_create},
	{"nvmlDeviceRegisterEvents", &api.events_register},
	{"nvmlEventSetWait_v2", &api.events_wait},
};

static msd_err fill_api(void *library, const char *path, struct msd_diag *d)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *found = dlsym(library, symbols[i].name);

		if (found == NULL) {
			return msd_diag_set(d, MSD_UNSUPPORTED, "%s has no %s", path,
					    symbols[i].name);
		}
		memcpy(symbols[i].to, &found, sizeof(found));
	}
	return MSD_OK;
}

static msd_err open_library(struct msd_diag *d)
{
	const char *path = secure_getenv("MODSERD_LIBNVML");

	if (path == NULL || path[0] == '\0')
		path = LIBRARY;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		const char *why = dlerror();
		return msd_diag_set(d, MSD_UNSUPPORTED, "no NVML: %s",
				    why != NULL ? why : path);
	}
	msd_err err = fill_api(library, path, d);
	if (err != MSD_OK)
		return err;
	const int code = api.init();
	if (code == NVML_SUCCESS)
		return MSD_OK;
	return msd_diag_set(d, MSD_UNSUPPORTED, "%s: nvmlInit_v2: %s", path,
			    api.error_string(code));
}

static void add_gpu(struct msd_nvml *n, unsigned index)
{
	struct msd_nvml_gpu *gpu = &n->gpu[n->n_gpus];

	*gpu = (struct msd_nvml_gpu){.tells_faults = false};
	if (api.device(index, &gpu->device) != NVML_SUCCESS ||
	    api.uuid(gpu->device, gpu->uuid, sizeof(gpu->uuid)) != NVML_SUCCESS ||
	    api.name(gpu->device, gpu->name, sizeof(gpu->name)) != NVML_SUCCESS)
		return;
	gpu->tells_faults = n->events != NULL &&
			    api.events_register(gpu->device, NVML_XID_CRITICAL_ERROR,
						n->events) == NVML_SUCCESS;
	n->n_gpus++;
}

msd_err msd_nvml_open(struct msd_nvml *ret, struct msd_diag *d)
{
	unsigned n = 0;

	*ret = (struct msd_nvml){.n_gpus = 0};
	msd_err err = open_library(d);
	if (err != MSD_OK)
		return err;
	int code = api.count(&n);
	if (code != NVML_SUCCESS) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "nvmlDeviceGetCount_v2: %s",
				    api.error_string(code));
	}
	if (api.events_create(&ret->events) != NVML_SUCCESS)
		ret->events = NULL;
	for (unsigned i = 0; i < n && ret->n_gpus < MSD_NVML_GPUS_MAX; i++)
		add_gpu(ret, i);
	return MSD_OK;
}

void msd_nvml_read(const struct msd_nvml_gpu *gpu, struct msd_nvml_reading *ret)
{
	struct nvml_memory memory = {.total = 0};
	struct nvml_utilization utilization = {.gpu = 0};

	if (api.memory(gpu->device, &memory) != NVML_SUCCESS)
		memory = (struct nvml_memory){.total = 0};
	*ret = (struct msd_nvml_reading){
		.memory_bytes = memory.total,
		.used_bytes = memory.used,
		.has_utilization =
			api.utilization(gpu->device, &utilization) == NVML_SUCCESS,
		.utilization = utilization.gpu,
	};
}

static void count_fault(struct msd_nvml *n, const struct nvml_event *event)
{
	for (unsigned i = 0; i < n->n_gpus; i++) {
		if (n->gpu[i].device == event->device &&
		    event->type == NVML_XID_CRITICAL_ERROR)
			n->gpu[i].faults++;
	}
}

static void wait_in_vain(uint64_t ns)
{
	const struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};

	(void)nanosleep(&time, NULL);
}

/* An event ends a wait early; a wait that fails or has no events returns at once. */
void msd_nvml_wait(struct msd_nvml *n, unsigned ms)
{
	const uint64_t end_ns = msd_now_ns() + (uint64_t)ms * MSD_NS_PER_MS;

	for (uint64_t now_ns = msd_now_ns(); now_ns < end_ns; now_ns = msd_now_ns()) {
		struct nvml_event event = {.type = 0};
		const unsigned left_ms = (unsigned)((end_ns - now_ns) / MSD_NS_PER_MS);

		if (n->events != NULL && left_ms > 0 &&
		    api.events_wait(n->events, &event, left_ms) == NVML_SUCCESS) {
			count_fault(n, &event);
		} else if (msd_now_ns() < end_ns) {
			wait_in_vain(end_ns - msd_now_ns());
		}
	}
}
