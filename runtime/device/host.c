/* The host as a device: the reference for every other backend. Nothing is queued. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/limits.h"
#include "runtime/device/device.h"

static msd_err host_count(uint32_t *ret_n, struct msd_diag *d)
{
	(void)d;
	*ret_n = 1;
	return MSD_OK;
}

/* "model name : ..." of the first processor, if the system reports it. */
static void processor_name(char name[static MSD_DEVICE_TEXT_MAX])
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "re");

	(void)snprintf(name, MSD_DEVICE_TEXT_MAX, "host");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		char *colon = strchr(line, ':');
		if (colon == NULL || strncmp(line, "model name", 10) != 0)
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		(void)snprintf(name, MSD_DEVICE_TEXT_MAX, "%.*s",
			       (int)MSD_DEVICE_TEXT_MAX - 1,
			       colon + 1 + strspn(colon + 1, " "));
		break;
	}
	if (f != NULL)
		(void)fclose(f);
}

static msd_err host_describe(uint32_t ordinal, struct msd_device_info *ret,
			     struct msd_diag *d)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	(void)d;
	*ret = (struct msd_device_info){
		.device = {MSD_DEV_CPU, (int32_t)ordinal},
		.memory_bytes =
			pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE)
				  : 0,
		.compute_units = cores > 0 ? (uint32_t)cores : 0,
	};
	processor_name(ret->name);
	return MSD_OK;
}

static msd_err host_open(uint32_t ordinal, struct msd_dev **ret, struct msd_diag *d)
{
	struct msd_dev *dev = calloc(1, sizeof(*dev));

	if (dev == NULL)
		return msd_diag_no_memory(d);
	dev->ops = &msd_device_host;
	dev->device = (struct msd_device){MSD_DEV_CPU, (int32_t)ordinal};
	*ret = dev;
	return MSD_OK;
}

static void host_close(struct msd_dev *dev)
{
	free(dev);
}

static msd_err host_alloc(struct msd_dev *dev, size_t bytes, void **ret,
			  struct msd_diag *d)
{
	const size_t align = MSD_TENSOR_ALIGN;

	(void)dev;
	*ret = bytes <= SIZE_MAX / 2
		       ? aligned_alloc(align, (bytes + align - 1) & ~(align - 1))
		       : NULL;
	return *ret != NULL ? MSD_OK
			    : msd_diag_set(d, MSD_NOMEM, "cpu: no memory for %zu bytes",
					   bytes);
}

static void host_free(struct msd_dev *dev, void *p)
{
	(void)dev;
	free(p);
}

static msd_err host_copy(struct msd_dev *dev, void *dst, const void *src, size_t n,
			 struct msd_diag *d)
{
	(void)dev;
	(void)d;
	memmove(dst, src, n);
	return MSD_OK;
}

static msd_err host_fill(struct msd_dev *dev, void *dst, uint8_t value, size_t n,
			 struct msd_diag *d)
{
	(void)dev;
	(void)d;
	memset(dst, value, n);
	return MSD_OK;
}

const struct msd_device_ops msd_device_host = {
	.abi = MSD_DEVICE_ABI,
	.type = MSD_DEV_CPU,
	.name = "cpu",
	.count = host_count,
	.describe = host_describe,
	.open = host_open,
	.close = host_close,
	.alloc = host_alloc,
	.free = host_free,
	.write = host_copy,
	.read = host_copy,
	.copy = host_copy,
	.fill = host_fill,
};
