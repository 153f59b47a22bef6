/* Functions of libcuda.so.1 by their symbols: devices, contexts, memory. Before each
 * stand the section and the function of the driver API's documentation, and the rule of
 * it that is kept. Each takes the lock, counts itself and checks what it got. Releasing
 * works even where the call is told to fail. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stub.h"

/* Found by name alone: there is no header that declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define MAX_DEVICES 8

pthread_mutex_t stub_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *primaries[MAX_DEVICES];
static bool is_initialised;

void stub_unlock(const int *ignored)
{
	(void)ignored;
	(void)pthread_mutex_unlock(&stub_mutex);
}

static int n_devices(void)
{
	const char *n = getenv("STUB_CUDA_DEVICES");
	int value = n != NULL ? atoi(n) : 2;

	return value < MAX_DEVICES ? value : MAX_DEVICES;
}

int driver_version(void)
{
	const char *version = getenv("STUB_CUDA_VERSION");

	return version != NULL ? atoi(version) : 13000;
}

static bool device_ok(int device)
{
	return device >= 0 && device < n_devices();
}

/* "Initialization", cuInit: the flags must be 0; a machine without a device has error
 * 100. */
STUB_API int cuInit(unsigned flags)
{
	ENTER(enter("cuInit"));
	is_initialised = true;
	if (n_devices() == 0)
		return 100;
	return flags == 0 ? OK : INVALID_VALUE;
}

STUB_API int cuDriverGetVersion(int *ret)
{
	ENTER(enter("cuDriverGetVersion"));
	*ret = driver_version();
	return OK;
}

STUB_API int cuGetErrorName(int code, const char **ret)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		{OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
		{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
		{INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
		{100, "CUDA_ERROR_NO_DEVICE"},
		{NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
	};

	*ret = "CUDA_ERROR_OF_THE_STUB";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == code)
			*ret = names[i].name;
	}
	return OK;
}

STUB_API int cuGetErrorString(int code, const char **ret)
{
	*ret = code == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
				       : "said by the stand-in driver";
	return OK;
}

/* "Device Management", cuDeviceGetCount: before cuInit everything is refused. */
STUB_API int cuDeviceGetCount(int *ret)
{
	ENTER(enter("cuDeviceGetCount"));
	*ret = n_devices();
	return is_initialised ? OK : NOT_INITIALIZED;
}

/* "Device Management", cuDeviceGet: ordinals go from 0 to the count less one; so with
 * all that takes a device. */
STUB_API int cuDeviceGet(int *ret, int ordinal)
{
	ENTER(enter("cuDeviceGet"));
	*ret = ordinal;
	return device_ok(ordinal) ? OK : INVALID_DEVICE;
}

STUB_API int cuDeviceGetName(char *ret, int n, int device)
{
	ENTER(enter("cuDeviceGetName"));
	(void)snprintf(ret, (size_t)n, "Stand-in %d", device);
	return device_ok(device) ? OK : INVALID_DEVICE;
}

STUB_API int cuDeviceTotalMem_v2(size_t *ret, int device)
{
	ENTER(enter("cuDeviceTotalMem"));
	*ret = (size_t)8 << 30;
	return device_ok(device) ? OK : INVALID_DEVICE;
}

STUB_API int cuDeviceGetAttribute(int *ret, int which, int device)
{
	/* Those of an H100: "CUdevice_attribute". */
	static const struct {
		int which, value;
	} known[] = {{1, 1024},  {2, 1024},      {3, 1024},   {4, 64},
		     {8, 49152}, {10, 32},       {12, 65536}, {13, 1980000},
		     {16, 132},  {38, 50 << 20}, {75, 9}};

	ENTER(enter("cuDeviceGetAttribute"));
	*ret = 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].which == which)
			*ret = known[i].value;
	}
	return device_ok(device) ? OK : INVALID_DEVICE;
}

static unsigned context_flags;

/* "Primary Context Management", cuDevicePrimaryCtxSetFlags: flags within
 * CU_CTX_FLAGS_MASK, those for scheduling in the lowest three bits. */
STUB_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
	ENTER(enter("cuDevicePrimaryCtxSetFlags"));
	if (!device_ok(device) || flags > 0xff)
		return INVALID_VALUE;
	context_flags = flags;
	return OK;
}

/* "Primary Context Management", cuDevicePrimaryCtxRetain: one context for each device,
 * counted. */
STUB_API int cuDevicePrimaryCtxRetain(struct object **ret, int device)
{
	ENTER(enter("cuDevicePrimaryCtxRetain"));
	if (!device_ok(device))
		return INVALID_DEVICE;
	if (primaries[device] == NULL) {
		primaries[device] = object_new(CONTEXT, NULL);
		primaries[device]->device = device;
	}
	primaries[device]->n_refs++;
	*ret = primaries[device];
	return OK;
}

/* "Primary Context Management", cuDevicePrimaryCtxRelease: as often as it was retained,
 * and not once more. */
STUB_API int cuDevicePrimaryCtxRelease_v2(int device)
{
	LOCKED;
	int code = enter("cuDevicePrimaryCtxRelease");
	if (!device_ok(device) || primaries[device] == NULL) {
		violation("a context is released that was not retained");
		return INVALID_CONTEXT;
	}
	if (--primaries[device]->n_refs == 0) {
		primaries[device]->is_alive = false;
		primaries[device] = NULL;
	}
	return code;
}

/* "Context Management", cuCtxSetCurrent: NULL leaves the thread without one; a context
 * that is gone is none. */
STUB_API int cuCtxSetCurrent(struct object *context)
{
	ENTER(enter("cuCtxSetCurrent"));
	if (context != NULL && !object_ok(context, CONTEXT, "cuCtxSetCurrent"))
		return INVALID_CONTEXT;
	context_make_current(context);
	return OK;
}

/* "Stream Management", cuStreamCreate: CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING. */
STUB_API int cuStreamCreate(struct object **ret, unsigned flags)
{
	ENTER(enter_context("cuStreamCreate"));
	if (flags > 1)
		return INVALID_VALUE;
	*ret = object_new(STREAM, context_current());
	return OK;
}

/* "Stream Management", cuStreamQuery: CUDA_ERROR_NOT_READY until all is done, and
 * errors of earlier launches. What is not slow is done when somebody asks. */
STUB_API int cuStreamQuery(struct object *stream)
{
	ENTER(enter_context("cuStreamQuery"));
	if (!object_ok(stream, STREAM, "cuStreamQuery"))
		return INVALID_HANDLE;
	if (capture_check(stream) != OK)
		return capture_check(stream);
	return delay_ms() > 0 && stream->first != NULL ? NOT_READY : stream_run(stream);
}

/* "Primary Context Management", cuDevicePrimaryCtxSetFlags, CU_CTX_SCHED_BLOCKING_SYNC:
 * who waits spins, unless the context is to block. */
static void wait_a_while(void)
{
	const unsigned ms = delay_ms();
	struct timespec begin;
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	now = begin;
	if ((context_flags & 7) == 4) {
		(void)poll(NULL, 0, (int)ms); /* the time is the device's */
		return;
	}
	while ((now.tv_sec - begin.tv_sec) * 1000 +
		       (now.tv_nsec - begin.tv_nsec) / 1000000 <
	       (long)ms)
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
}

/* "Stream Management", cuStreamSynchronize: waits, and returns errors of earlier
 * launches. */
STUB_API int cuStreamSynchronize(struct object *stream)
{
	ENTER(enter_context("cuStreamSynchronize"));
	if (!object_ok(stream, STREAM, "cuStreamSynchronize"))
		return INVALID_HANDLE;
	if (capture_check(stream) != OK)
		return capture_check(stream);
	if (delay_ms() > 0 && stream->first != NULL)
		wait_a_while();
	return stream_run(stream);
}

/* "Stream Management", cuStreamDestroy: what is queued is done all the same. */
STUB_API int cuStreamDestroy_v2(struct object *stream)
{
	LOCKED;
	int code = enter("cuStreamDestroy");
	if (!object_ok(stream, STREAM, "cuStreamDestroy"))
		return INVALID_HANDLE;
	(void)stream_run(stream);
	stream->is_alive = false;
	return code;
}

/* "Memory Management", cuMemGetInfo: of the current context's device. */
STUB_API int cuMemGetInfo_v2(size_t *ret_free, size_t *ret_total)
{
	ENTER(enter_context("cuMemGetInfo"));
	*ret_free = memory_left();
	*ret_total = (size_t)8 << 30;
	return OK;
}

/* "Memory Management", cuMemAlloc: no bytes are an invalid value. */
STUB_API int cuMemAlloc_v2(uint64_t *ret, size_t n)
{
	ENTER(enter_context("cuMemAlloc"));
	return n > 0 ? memory_alloc(context_current(), ret, n) : INVALID_VALUE;
}

/* "Memory Management", cuMemFree: waits for what uses it; of the context that has
 * allocated it. */
STUB_API int cuMemFree_v2(uint64_t address)
{
	LOCKED;
	int code = enter_context("cuMemFree");
	(void)context_run(context_current());
	int freed = memory_free(context_current(), address);
	return code != OK ? code : freed;
}

static int copy_queue(const char *symbol, struct object *stream, const struct work *w,
		      uint64_t device_side)
{
	if (!object_ok(stream, STREAM, symbol))
		return INVALID_HANDLE;
	if (w->n > 0 && memory_at(device_side, w->n) == NULL) {
		violation("%s: %zu bytes at %#llx are not device memory", symbol, w->n,
			  (unsigned long long)device_side);
		return INVALID_VALUE;
	}
	work_add(stream, w);
	return OK;
}

/* "Memory Management", cuMemcpyHtoDAsync: the destination is device memory, all of it
 * of one allocation. */
STUB_API int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t n,
				  struct object *stream)
{
	const struct work w = {
		.task = TO_DEVICE, .dst = dst, .src = (uint64_t)(uintptr_t)src, .n = n};

	ENTER(enter_context("cuMemcpyHtoDAsync"));
	return copy_queue("cuMemcpyHtoDAsync", stream, &w, dst);
}

/* "Memory Management", cuMemcpyDtoHAsync: likewise the source. */
STUB_API int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t n,
				  struct object *stream)
{
	const struct work w = {
		.task = TO_HOST, .dst = (uint64_t)(uintptr_t)dst, .src = src, .n = n};

	ENTER(enter_context("cuMemcpyDtoHAsync"));
	return copy_queue("cuMemcpyDtoHAsync", stream, &w, src);
}

/* "Memory Management", cuMemcpyDtoDAsync: both are. */
STUB_API int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t n,
				  struct object *stream)
{
	const struct work w = {.task = ON_DEVICE, .dst = dst, .src = src, .n = n};

	ENTER(enter_context("cuMemcpyDtoDAsync"));
	if (memory_at(src, n) == NULL) {
		violation("cuMemcpyDtoDAsync: the source is no device memory");
		return INVALID_VALUE;
	}
	return copy_queue("cuMemcpyDtoDAsync", stream, &w, dst);
}

/* "Memory Management", cuMemsetD8Async: the destination is device memory. */
STUB_API int cuMemsetD8Async(uint64_t dst, unsigned char value, size_t n,
			     struct object *stream)
{
	const struct work w = {.task = FILL, .dst = dst, .value = value, .n = n};

	ENTER(enter_context("cuMemsetD8Async"));
	return copy_queue("cuMemsetD8Async", stream, &w, dst);
}

static struct {
	void *p;
	size_t n;
} pinned[256];

size_t pinned_total(void)
{
	size_t n = 0;

	for (size_t i = 0; i < 256; i++)
		n += pinned[i].n;
	return n;
}

/* "Memory Management", cuMemHostRegister: whole pages, no page twice
 * (CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED), flags of CU_MEMHOSTREGISTER_PORTABLE,
 * _DEVICEMAP, _IOMEMORY and _READ_ONLY. */
STUB_API int cuMemHostRegister_v2(void *p, size_t n, unsigned flags)
{
	ENTER(enter_context("cuMemHostRegister"));
	if (getenv("STUB_CUDA_PIN") != NULL)
		return NOT_SUPPORTED;
	if (n == 0 || (uintptr_t)p % 4096 != 0 || flags > 15)
		return INVALID_VALUE;
	size_t at = 256;
	for (size_t i = 0; i < 256; i++) {
		if ((uintptr_t)p < (uintptr_t)pinned[i].p + pinned[i].n &&
		    (uintptr_t)pinned[i].p < (uintptr_t)p + n)
			return ALREADY_REGISTERED;
		if (pinned[i].p == NULL)
			at = i;
	}
	if (at == 256)
		return OUT_OF_MEMORY;
	pinned[at].p = p;
	pinned[at].n = n;
	return OK;
}

/* "Memory Management", cuMemHostUnregister: the base of a range that was registered. */
STUB_API int cuMemHostUnregister(void *p)
{
	LOCKED;
	int code = enter_context("cuMemHostUnregister");
	for (size_t i = 0; i < 256; i++) {
		if (pinned[i].p != p)
			continue;
		pinned[i].p = NULL;
		pinned[i].n = 0;
		return code;
	}
	violation("cuMemHostUnregister: not registered");
	return NOT_REGISTERED;
}
