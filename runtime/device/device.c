/*
 * Open devices of this process, one instance each, reference-counted; and copies
 * between any two of them.
 *
 * Happy path: open returns the device that is already open or calls its backend. A
 * copy goes to the one backend that knows the other side, else through the host.
 * Backends are rows of a table; nothing else lists them.
 */
#include "runtime/device/device.h"

#include <pthread.h>
#include <stdlib.h>

#include "runtime/device/memory.h"
#include "runtime/device/pinned.h"

/* All backends. To add one, add its file and a row here. */
static const struct msd_device_ops *const rows[] = {
	&msd_device_host,
	&msd_device_cuda,
	&msd_device_opencl,
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Chunk size of copies between two devices through the host. */
#define BOUNCE_BYTES ((size_t)4 * 1024 * 1024)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct msd_dev *opened; /* list of the open devices */

static const struct msd_device_ops *ops_of_type(int32_t type)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i]->type == type)
			return rows[i];
	}
	return NULL;
}

const struct msd_device_ops *msd_device_ops_of_kind(struct msd_span kind)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		if (rows[i]->kind != NULL && msd_span_is(kind, rows[i]->kind))
			return rows[i];
	}
	return NULL;
}

static struct msd_dev *find_open(struct msd_device device)
{
	for (struct msd_dev *dev = opened; dev != NULL; dev = dev->next) {
		if (dev->device.type == device.type && dev->device.id == device.id)
			return dev;
	}
	return NULL;
}

struct msd_dev *msd_dev_peek(struct msd_device device)
{
	(void)pthread_mutex_lock(&lock);
	struct msd_dev *dev = find_open(device);
	(void)pthread_mutex_unlock(&lock);
	return dev;
}

static msd_err find_ops(struct msd_device device, const struct msd_device_ops **ret,
			struct msd_diag *d)
{
	const struct msd_device_ops *ops = ops_of_type(device.type);
	char name[MSD_DTYPE_NAME_MAX];
	uint32_t n = 0;

	if (ops == NULL || ops->abi != MSD_DEVICE_ABI) {
		(void)msd_diag_set(d, MSD_UNSUPPORTED,
				   "no device %s:%d: this build has no such backend",
				   msd_device_type_format(device.type, name),
				   device.id);
		return MSD_UNSUPPORTED;
	}
	const msd_err err = ops->count(&n, d);
	if (err != MSD_OK) {
		(void)msd_diag_wrap(d, err, "no device %s:%d", ops->name, device.id);
		return err;
	}
	if (device.id < 0 || (uint32_t)device.id >= n) {
		(void)msd_diag_set(d, MSD_UNSUPPORTED,
				   "no device %s:%d: this machine has %u", ops->name,
				   device.id, n);
		return MSD_UNSUPPORTED;
	}
	*ret = ops;
	return MSD_OK;
}

/* The caller holds the lock. */
static msd_err open_new(struct msd_device device, struct msd_dev **ret,
			struct msd_diag *d)
{
	const struct msd_device_ops *ops = NULL;
	msd_err err = find_ops(device, &ops, d);

	if (err != MSD_OK)
		return err;
	err = ops->open((uint32_t)device.id, ret, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s:%d", ops->name, device.id);
	err = msd_dev_pool_create(*ret, d);
	if (err != MSD_OK) {
		ops->close(*ret);
	} else {
		msd_pinned_attach(*ret);
	}
	return err;
}

msd_err msd_dev_open(struct msd_device device, struct msd_dev **ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	(void)pthread_mutex_lock(&lock);
	struct msd_dev *dev = find_open(device);
	if (dev == NULL) {
		err = open_new(device, &dev, d);
		if (err == MSD_OK) {
			dev->next = opened;
			opened = dev;
		}
	}
	if (err == MSD_OK) {
		dev->n_refs++;
		*ret = dev;
	}
	(void)pthread_mutex_unlock(&lock);
	return err;
}

void msd_dev_ref(struct msd_dev *dev)
{
	(void)pthread_mutex_lock(&lock);
	dev->n_refs++;
	(void)pthread_mutex_unlock(&lock);
}

void msd_dev_close(struct msd_dev *dev)
{
	if (dev == NULL)
		return;
	(void)pthread_mutex_lock(&lock);
	if (--dev->n_refs > 0)
		dev = NULL;
	for (struct msd_dev **at = &opened; dev != NULL && *at != NULL;
	     at = &(*at)->next) {
		if (*at == dev) {
			*at = dev->next;
			break;
		}
	}
	(void)pthread_mutex_unlock(&lock);
	if (dev == NULL)
		return;
	msd_pinned_detach(dev);
	msd_dev_pool_destroy(dev);
	dev->ops->close(dev);
}

void msd_devices_trim(void)
{
	(void)pthread_mutex_lock(&lock);
	for (struct msd_dev *dev = opened; dev != NULL; dev = dev->next)
		msd_dev_pool_trim(dev);
	(void)pthread_mutex_unlock(&lock);
}

static _Thread_local struct msd_device current = {MSD_DEV_CPU, 0};

struct msd_device msd_dev_current(void)
{
	return current;
}

void msd_dev_set_current(struct msd_device device)
{
	current = device;
}

msd_err msd_dev_sync(struct msd_dev *dev, struct msd_diag *d)
{
	return dev->ops->sync != NULL ? dev->ops->sync(dev, d) : MSD_OK;
}

static bool is_host(const struct msd_dev *dev)
{
	return dev == NULL || dev->ops == &msd_device_host;
}

static msd_err copy_across(struct msd_dev *to, uint8_t *dst, struct msd_dev *from,
			   const uint8_t *src, size_t n, struct msd_diag *d)
{
	size_t room = n < BOUNCE_BYTES ? n : BOUNCE_BYTES;
	uint8_t *bounce = malloc(room);
	msd_err err = MSD_OK;

	if (bounce == NULL)
		return msd_diag_no_memory(d);
	for (size_t at = 0; err == MSD_OK && at < n; at += room) {
		size_t part = n - at < room ? n - at : room;
		err = from->ops->read(from, bounce, src + at, part, d);
		if (err == MSD_OK)
			err = msd_dev_sync(from, d);
		if (err == MSD_OK)
			err = to->ops->write(to, dst + at, bounce, part, d);
		if (err == MSD_OK)
			err = msd_dev_sync(to, d);
	}
	free(bounce);
	return err;
}

msd_err msd_dev_copy(struct msd_dev *to, void *dst, struct msd_dev *from,
		     const void *src, size_t n, struct msd_diag *d)
{
	if (n == 0)
		return MSD_OK;
	if (is_host(to) && is_host(from))
		return msd_device_host.copy(to, dst, src, n, d);
	if (is_host(to))
		return from->ops->read(from, dst, src, n, d);
	if (is_host(from))
		return to->ops->write(to, dst, src, n, d);
	if (to == from)
		return to->ops->copy(to, dst, src, n, d);
	return copy_across(to, dst, from, src, n, d);
}

msd_err msd_dev_describe(struct msd_device device, struct msd_device_info *ret,
			 struct msd_diag *d)
{
	const struct msd_device_ops *ops = NULL;
	const msd_err err = find_ops(device, &ops, d);

	return err == MSD_OK ? ops->describe((uint32_t)device.id, ret, d) : err;
}

void msd_devices_list(void (*each)(void *ctx, const struct msd_device_info *info),
		      void (*absent)(void *ctx, const char *backend, const char *why),
		      void *ctx)
{
	for (size_t i = 0; i < N_ROWS; i++) {
		struct msd_diag d = {0};
		struct msd_device_info info;
		uint32_t n = 0;
		msd_err err = rows[i]->count(&n, &d);

		for (uint32_t k = 0; err == MSD_OK && k < n; k++) {
			err = rows[i]->describe(k, &info, &d);
			if (err == MSD_OK && each != NULL)
				each(ctx, &info);
		}
		if (err != MSD_OK && absent != NULL)
			absent(ctx, rows[i]->name, msd_diag_text(&d));
		msd_diag_finish(&d);
	}
}
