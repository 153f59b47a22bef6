/* For MODSERD_LIBNVML: NVIDIA's management library of a machine with two cards, of
 * which the second is split (MIG) and tells no utilization. Each byte that is written
 * to the FIFO STUB_NVML_EVENTS is a critical error of the card that it names, '0' or
 * '1'. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define SUCCESS 0
#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define TIMEOUT 10
#define XID 0x8ull

struct event {
	void *device;
	unsigned long long type, data;
	unsigned gpu_instance, compute_instance;
};

static char cards[2]; /* their addresses are their handles */
static char events;

EXPORT int nvmlInit_v2(void);
EXPORT const char *nvmlErrorString(int code);
EXPORT int nvmlDeviceGetCount_v2(unsigned *ret);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret);
EXPORT int nvmlDeviceGetUUID(void *device, char *ret, unsigned n);
EXPORT int nvmlDeviceGetName(void *device, char *ret, unsigned n);
EXPORT int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3]);
EXPORT int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2]);
EXPORT int nvmlEventSetCreate(void **ret);
EXPORT int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set);
EXPORT int nvmlEventSetWait_v2(void *set, struct event *ret, unsigned ms);

static long index_of(const void *device)
{
	return (const char *)device - cards;
}

int nvmlInit_v2(void)
{
	return SUCCESS;
}

const char *nvmlErrorString(int code)
{
	(void)code;
	return "of the stand-in";
}

int nvmlDeviceGetCount_v2(unsigned *ret)
{
	*ret = 2;
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **ret)
{
	if (index >= 2)
		return NOT_FOUND;
	*ret = &cards[index];
	return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *ret, unsigned n)
{
	(void)snprintf(ret, n, "GPU-stub-%ld", index_of(device));
	return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *ret, unsigned n)
{
	(void)device;
	(void)snprintf(ret, n, "Stand-in \"80GB\"");
	return SUCCESS;
}

/* total, free, used */
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long ret[3])
{
	ret[0] = 80ull << 30;
	ret[2] = (unsigned long long)(index_of(device) + 1) << 30;
	ret[1] = ret[0] - ret[2];
	return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned ret[2])
{
	if (index_of(device) == 1)
		return NOT_SUPPORTED;
	ret[0] = 37;
	ret[1] = 5;
	return SUCCESS;
}

int nvmlEventSetCreate(void **ret)
{
	*ret = &events;
	return SUCCESS;
}

int nvmlDeviceRegisterEvents(void *device, unsigned long long types, void *set)
{
	(void)device;
	return types == XID && set == &events ? SUCCESS : NOT_SUPPORTED;
}

int nvmlEventSetWait_v2(void *set, struct event *ret, unsigned ms)
{
	static int fd = -1;
	const char *path = getenv("STUB_NVML_EVENTS");
	char byte;

	if (set != &events)
		return NOT_SUPPORTED;
	if (fd < 0 && path != NULL)
		fd = open(path, O_RDWR | O_CLOEXEC);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, (int)ms) != 1 || read(fd, &byte, 1) != 1)
		return TIMEOUT;
	*ret = (struct event){.device = &cards[byte - '0'], .type = XID, .data = 79};
	return SUCCESS;
}
