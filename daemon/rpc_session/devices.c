#include "daemon/rpc_session/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

/* TVM's numbers of attributes. */
enum attribute {
	EXISTS,
	MAX_THREADS,
	WARP_THREADS,
	SHARED_BYTES,
	COMPUTE_VERSION,
	NAME,
	CLOCK_KHZ,
	COMPUTE_UNITS,
	MAX_BLOCK,
	REGISTERS,
	GCN_ARCH,
	API_VERSION,
	DRIVER_VERSION,
	CACHE_BYTES,
	MEMORY_BYTES,
	FREE_BYTES
};

static bool is_host(struct msd_device device)
{
	return device.type == MSD_DEV_CPU && device.id >= 0;
}

msd_err msd_rpc_devices_reach(struct msd_rpc_devices *all, struct msd_device device,
			      struct msd_dev **ret, struct msd_diag *d)
{
	struct msd_dev *dev;

	*ret = NULL;
	if (is_host(device))
		return MSD_OK;
	for (uint32_t i = 0; i < all->n; i++) {
		dev = all->list[i];
		if (dev->device.type == device.type && dev->device.id == device.id) {
			*ret = dev;
			return MSD_OK;
		}
	}
	if (!msd_grow(&all->list, all->n, sizeof(*all->list)))
		return msd_diag_no_memory(d);
	const msd_err err = msd_dev_open(device, &dev, d);
	if (err != MSD_OK)
		return err;
	all->list[all->n++] = dev;
	*ret = dev;
	return MSD_OK;
}

msd_err msd_rpc_devices_sync(const struct msd_rpc_devices *all, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < all->n && err == MSD_OK; i++)
		err = msd_dev_sync(all->list[i], d);
	return err;
}

void msd_rpc_devices_finish(struct msd_rpc_devices *all)
{
	for (uint32_t i = 0; i < all->n; i++)
		msd_dev_close(all->list[i]);
	free(all->list);
	*all = (struct msd_rpc_devices){0};
}

/* -1: there is none. */
static int64_t number_of(const struct msd_device_info *info, int64_t which)
{
	switch (which) {
	case MAX_THREADS:
		return (int64_t)info->max_threads;
	case WARP_THREADS:
		return (int64_t)info->warp_threads;
	case SHARED_BYTES:
		return (int64_t)info->shared_bytes;
	case CLOCK_KHZ:
		return (int64_t)info->clock_khz;
	case COMPUTE_UNITS:
		return info->compute_units;
	case REGISTERS: /* OpenCL has no such number */
		return info->registers > 0 ? (int64_t)info->registers : -1;
	case API_VERSION:
		return (int64_t)info->api_version;
	case CACHE_BYTES:
		return (int64_t)info->cache_bytes;
	case MEMORY_BYTES:
		return (int64_t)info->memory_bytes;
	default:
		return -1;
	}
}

/* "3.0" of "OpenCL 3.0 by a driver", or of "3.0" */
static void put_version(const char *capability, char text[static MSD_DEVICE_TEXT_MAX])
{
	const char *at = capability + strcspn(capability, "0123456789");

	(void)snprintf(text, MSD_DEVICE_TEXT_MAX, "%.*s",
		       (int)strspn(at, "0123456789."), at);
}

/* TVM tells the driver's version of OpenCL only. */
static void put_text(const struct msd_device_info *info, int64_t which,
		     char text[static MSD_DEVICE_TEXT_MAX])
{
	const char *driver = info->device.type == MSD_DEV_OPENCL ? info->driver : "";

	text[0] = '\0';
	if (which == COMPUTE_VERSION) {
		put_version(info->capability, text);
	} else if (which == NAME || which == DRIVER_VERSION) {
		(void)snprintf(text, MSD_DEVICE_TEXT_MAX, "%s",
			       which == NAME ? info->name : driver);
	} else if (which == MAX_BLOCK && info->max_block[0] > 0) {
		(void)snprintf(text, MSD_DEVICE_TEXT_MAX,
			       "[%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]",
			       info->max_block[0], info->max_block[1],
			       info->max_block[2]);
	}
}

static void put_attribute(const struct msd_device_info *info, int64_t which,
			  char text[static MSD_DEVICE_TEXT_MAX],
			  struct msd_rpc_value *ret)
{
	const int64_t number = number_of(info, which);

	/* TVM tells nothing of a processor but its memory. */
	if (info->device.type == MSD_DEV_CPU && which != MEMORY_BYTES)
		return;
	put_text(info, which, text);
	if (text[0] != '\0') {
		*ret = (struct msd_rpc_value){.kind = MSD_RPC_TEXT,
					      .as.bytes = msd_span_of(text)};
	} else if (number >= 0) {
		*ret = (struct msd_rpc_value){.kind = MSD_RPC_INT, .as.i64 = number};
	}
}

static msd_err put_free_bytes(struct msd_rpc_devices *all, struct msd_device device,
			      struct msd_rpc_value *ret, struct msd_diag *d)
{
	struct msd_dev *dev = NULL;
	uint64_t n = 0;
	msd_err err = msd_rpc_devices_reach(all, device, &dev, d);

	if (err != MSD_OK || dev == NULL || dev->ops->free_bytes == NULL)
		return err;
	err = dev->ops->free_bytes(dev, &n, d);
	*ret = (struct msd_rpc_value){.kind = MSD_RPC_INT, .as.i64 = (int64_t)n};
	return err;
}

msd_err msd_rpc_devices_attribute(struct msd_rpc_devices *all, struct msd_device device,
				  int64_t which, char text[static MSD_DEVICE_TEXT_MAX],
				  struct msd_rpc_value *ret, struct msd_diag *d)
{
	const struct msd_device host = {MSD_DEV_CPU, 0};
	struct msd_device_info info;
	struct msd_diag why = {0};

	*ret = (struct msd_rpc_value){.kind = MSD_RPC_NONE};
	if (is_host(device))
		device = host;
	if (which == EXISTS) {
		const bool exists = msd_dev_describe(device, &info, &why) == MSD_OK;
		msd_diag_finish(&why);
		*ret = (struct msd_rpc_value){.kind = MSD_RPC_INT, .as.i64 = exists};
		return MSD_OK;
	}
	if (which == FREE_BYTES)
		return put_free_bytes(all, device, ret, d);
	const msd_err err = msd_dev_describe(device, &info, d);
	if (err == MSD_OK)
		put_attribute(&info, which, text, ret);
	return err;
}
