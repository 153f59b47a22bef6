/*
 * OpenCL as a device: a context and an in-order queue per device, with its memory,
 * copies and launches.
 *
 * Happy path: devices of all platforms are numbered once, open creates context and
 * queue. Buffers are ranges of addresses that host code cannot read, so that a
 * pointer with an offset stays a pointer. Host reads wait for the queue.
 */
#include "runtime/device/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/grow.h"

static msd_err opencl_count(uint32_t *ret_n, struct msd_diag *d)
{
	struct msd_opencl_place places[MSD_MAX_DEVICES];

	return msd_opencl_places(places, ret_n, d);
}

/* Index of the first range that begins after @address. */
static size_t range_behind(const struct msd_opencl *cl, const void *address)
{
	size_t low = 0;
	size_t high = cl->n_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if ((uintptr_t)cl->ranges[middle].base <= (uintptr_t)address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The range with @n bytes at @address; @ret_offset is the offset in it. The caller
 * holds the lock. */
static struct msd_opencl_range *range_find(struct msd_opencl *cl, const void *address,
					   size_t n, size_t *ret_offset)
{
	size_t i = range_behind(cl, address);

	if (i == 0)
		return NULL;
	struct msd_opencl_range *r = &cl->ranges[i - 1];
	size_t offset = (uintptr_t)address - (uintptr_t)r->base;
	if (offset > r->bytes || n > r->bytes - offset)
		return NULL;
	*ret_offset = offset;
	return r;
}

static msd_err no_such_memory(const struct msd_opencl *cl, const void *address,
			      size_t n, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "%zu bytes at %p are not memory of opencl:%d", n, address,
			    cl->dev.device.id);
}

static msd_err locate(struct msd_opencl *cl, const void *address, size_t n,
		      struct cl_mem **ret, size_t *ret_offset, struct msd_diag *d)
{
	(void)pthread_mutex_lock(&cl->lock);
	const struct msd_opencl_range *r = range_find(cl, address, n, ret_offset);
	*ret = r != NULL ? r->mem : NULL;
	(void)pthread_mutex_unlock(&cl->lock);
	return r != NULL ? MSD_OK : no_such_memory(cl, address, n, d);
}

static msd_err part_new(struct msd_opencl *cl, struct msd_opencl_range *r,
			size_t offset, struct cl_mem **ret, struct msd_diag *d)
{
	const struct cl_region region = {.origin = offset, .size = r->bytes - offset};
	int32_t code;

	if (offset % cl->base_align != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "a tensor begins %zu bytes into its buffer, but "
				    "opencl:%d supports only multiples of %zu",
				    offset, cl->dev.device.id, cl->base_align);
	}
	struct msd_opencl_part *part = calloc(1, sizeof(*part));
	if (part == NULL)
		return msd_diag_no_memory(d);
	part->mem = cl->api->clCreateSubBuffer(r->mem, CL_READ_WRITE_FLAG,
					       CL_REGION_TYPE, &region, &code);
	if (code != CL_OK) {
		free(part);
		return msd_opencl_error(d, "clCreateSubBuffer", code);
	}
	part->offset = offset;
	part->next = r->parts;
	r->parts = part;
	*ret = part->mem;
	return MSD_OK;
}

static msd_err buffer_at(struct msd_opencl *cl, struct msd_opencl_range *r,
			 size_t offset, struct cl_mem **ret, struct msd_diag *d)
{
	*ret = r->mem;
	if (offset == 0)
		return MSD_OK;
	for (const struct msd_opencl_part *p = r->parts; p != NULL; p = p->next) {
		if (p->offset == offset) {
			*ret = p->mem;
			return MSD_OK;
		}
	}
	return part_new(cl, r, offset, ret, d);
}

msd_err msd_opencl_buffer(struct msd_opencl *cl, const void *address,
			  struct cl_mem **ret, struct msd_diag *d)
{
	size_t offset;
	msd_err err;

	*ret = NULL;
	if (address == NULL)
		return MSD_OK;
	(void)pthread_mutex_lock(&cl->lock);
	struct msd_opencl_range *r = range_find(cl, address, 1, &offset);
	err = r != NULL ? buffer_at(cl, r, offset, ret, d)
			: no_such_memory(cl, address, 1, d);
	(void)pthread_mutex_unlock(&cl->lock);
	return err;
}

static msd_err range_insert(struct msd_opencl *cl, const struct msd_opencl_range *r,
			    struct msd_diag *d)
{
	if (!msd_reserve(&cl->ranges, &cl->room, cl->n_ranges + 1, sizeof(*cl->ranges)))
		return msd_diag_no_memory(d);
	size_t at = range_behind(cl, r->base);
	memmove(&cl->ranges[at + 1], &cl->ranges[at],
		(cl->n_ranges - at) * sizeof(*cl->ranges));
	cl->ranges[at] = *r;
	cl->n_ranges++;
	return MSD_OK;
}

static void range_release(struct msd_opencl *cl, struct msd_opencl_range *r)
{
	while (r->parts != NULL) {
		struct msd_opencl_part *part = r->parts;
		r->parts = part->next;
		(void)cl->api->clReleaseMemObject(part->mem);
		free(part);
	}
	(void)cl->api->clReleaseMemObject(r->mem);
	(void)munmap(r->base, r->reserved);
}

static msd_err opencl_alloc(struct msd_dev *dev, size_t bytes, void **ret,
			    struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct msd_opencl_range r = {.bytes = bytes};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int32_t code;

	if (cl->max_alloc > 0 && bytes > cl->max_alloc) {
		return msd_diag_set(d, MSD_NOMEM,
				    "opencl:%d: %zu bytes in one piece; it has at most "
				    "%llu",
				    dev->device.id, bytes,
				    (unsigned long long)cl->max_alloc);
	}
	r.reserved = (bytes + page - 1) & ~(page - 1);
	r.base = mmap(NULL, r.reserved, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r.base == MAP_FAILED) {
		return msd_diag_set(d, MSD_NOMEM,
				    "opencl:%d: no address space for %zu bytes",
				    dev->device.id, bytes);
	}
	r.mem = cl->api->clCreateBuffer(cl->context, CL_READ_WRITE_FLAG, bytes, NULL,
					&code);
	if (code != CL_OK) {
		(void)munmap(r.base, r.reserved);
		msd_err err = msd_opencl_error(d, "clCreateBuffer", code);
		return msd_diag_wrap(d, err, "opencl:%d: %zu bytes", dev->device.id,
				     bytes);
	}
	(void)pthread_mutex_lock(&cl->lock);
	msd_err err = range_insert(cl, &r, d);
	(void)pthread_mutex_unlock(&cl->lock);
	if (err != MSD_OK) {
		range_release(cl, &r);
		return err;
	}
	*ret = r.base;
	return MSD_OK;
}

static void opencl_free(struct msd_dev *dev, void *p)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct msd_opencl_range gone = {0};

	(void)pthread_mutex_lock(&cl->lock);
	size_t i = range_behind(cl, p);
	if (i > 0 && cl->ranges[i - 1].base == p) {
		gone = cl->ranges[i - 1];
		memmove(&cl->ranges[i - 1], &cl->ranges[i],
			(cl->n_ranges - i) * sizeof(*cl->ranges));
		cl->n_ranges--;
	}
	(void)pthread_mutex_unlock(&cl->lock);
	if (gone.mem != NULL) /* the driver keeps it until queued work is done */
		range_release(cl, &gone);
}

static msd_err queued(struct msd_diag *d, const char *function, int32_t code)
{
	return code == CL_OK ? MSD_OK : msd_opencl_error(d, function, code);
}

static msd_err opencl_write(struct msd_dev *dev, void *dst, const void *host_src,
			    size_t n, struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct cl_mem *mem;
	size_t at;
	msd_err err = locate(cl, dst, n, &mem, &at, d);

	if (err != MSD_OK)
		return err;
	return queued(d, "clEnqueueWriteBuffer",
		      cl->api->clEnqueueWriteBuffer(cl->queue, mem, 0, at, n, host_src,
						    0, NULL, NULL));
}

static msd_err opencl_read(struct msd_dev *dev, void *host_dst, const void *src,
			   size_t n, struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct cl_mem *mem;
	size_t at;
	msd_err err = locate(cl, src, n, &mem, &at, d);

	if (err != MSD_OK)
		return err;
	return queued(d, "clEnqueueReadBuffer",
		      cl->api->clEnqueueReadBuffer(cl->queue, mem, 0, at, n, host_dst,
						   0, NULL, NULL));
}

static msd_err opencl_copy(struct msd_dev *dev, void *dst, const void *src, size_t n,
			   struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct cl_mem *to;
	struct cl_mem *from = NULL;
	size_t to_offset;
	size_t from_offset = 0;
	msd_err err = locate(cl, dst, n, &to, &to_offset, d);

	if (err == MSD_OK)
		err = locate(cl, src, n, &from, &from_offset, d);
	if (err != MSD_OK || dst == src)
		return err;
	return queued(d, "clEnqueueCopyBuffer",
		      cl->api->clEnqueueCopyBuffer(cl->queue, from, to, from_offset,
						   to_offset, n, 0, NULL, NULL));
}

static msd_err opencl_fill(struct msd_dev *dev, void *dst, uint8_t value, size_t n,
			   struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	struct cl_mem *mem;
	size_t offset;
	msd_err err = locate(cl, dst, n, &mem, &offset, d);

	if (err != MSD_OK)
		return err;
	return queued(d, "clEnqueueFillBuffer",
		      cl->api->clEnqueueFillBuffer(cl->queue, mem, &value, 1, offset, n,
						   0, NULL, NULL));
}

/* A failed kernel is detected here, if the driver reports it at all. */
static msd_err opencl_sync(struct msd_dev *dev, struct msd_diag *d)
{
	struct msd_opencl *cl = msd_opencl_of(dev);
	int32_t code = cl->api->clFinish(cl->queue);

	if (code == CL_OK)
		return MSD_OK;
	msd_err err = msd_opencl_error(d, "clFinish", code);
	return code == CL_OUT_OF_RESOURCES_ERR ? MSD_GPU_FAULT : err;
}

static void opencl_close(struct msd_dev *dev)
{
	struct msd_opencl *cl = msd_opencl_of(dev);

	if (cl->queue != NULL) {
		(void)cl->api->clFinish(cl->queue);
		(void)cl->api->clReleaseCommandQueue(cl->queue);
	}
	for (size_t i = 0; i < cl->n_ranges; i++)
		range_release(cl, &cl->ranges[i]);
	if (cl->context != NULL)
		(void)cl->api->clReleaseContext(cl->context);
	free(cl->ranges);
	(void)pthread_mutex_destroy(&cl->lock);
	free(cl);
}

static msd_err context_create(struct msd_opencl *cl, struct msd_diag *d)
{
	const intptr_t properties[] = {CL_CONTEXT_PLATFORM_PROPERTY,
				       (intptr_t)cl->place.platform, 0};
	int32_t code;

	cl->context = cl->api->clCreateContext(properties, 1, &cl->place.device, NULL,
					       NULL, &code);
	if (code != CL_OK) {
		cl->context = NULL;
		return msd_opencl_error(d, "clCreateContext", code);
	}
	cl->queue =
		cl->api->clCreateCommandQueue(cl->context, cl->place.device, 0, &code);
	if (code != CL_OK) {
		cl->queue = NULL;
		return msd_opencl_error(d, "clCreateCommandQueue", code);
	}
	return MSD_OK;
}

static msd_err opencl_open(uint32_t ordinal, struct msd_dev **ret, struct msd_diag *d)
{
	const struct msd_opencl_api *api = msd_opencl_api(d);
	uint32_t align_bits = 0;

	if (api == NULL)
		return MSD_UNSUPPORTED;
	struct msd_opencl *cl = calloc(1, sizeof(*cl));
	if (cl == NULL || pthread_mutex_init(&cl->lock, NULL) != 0) {
		free(cl);
		return msd_diag_no_memory(d);
	}
	cl->dev.ops = &msd_device_opencl;
	cl->dev.device = (struct msd_device){MSD_DEV_OPENCL, (int32_t)ordinal};
	cl->api = api;
	msd_err err = msd_opencl_place(ordinal, &cl->place, d);
	if (err == MSD_OK)
		err = context_create(cl, d);
	if (err != MSD_OK) {
		opencl_close(&cl->dev);
		return err;
	}
	(void)cl->api->clGetDeviceInfo(cl->place.device, CL_DEVICE_BASE_ALIGN_INFO,
				       sizeof(align_bits), &align_bits, NULL);
	(void)cl->api->clGetDeviceInfo(cl->place.device, CL_DEVICE_MAX_ALLOC_INFO,
				       sizeof(cl->max_alloc), &cl->max_alloc, NULL);
	cl->base_align = align_bits >= 8 ? align_bits / 8 : 1;
	*ret = &cl->dev;
	return MSD_OK;
}

const struct msd_device_ops msd_device_opencl = {
	.abi = MSD_DEVICE_ABI,
	.type = MSD_DEV_OPENCL,
	.name = "opencl",
	.kind = "opencl",
	.count = opencl_count,
	.describe = msd_opencl_describe,
	.open = opencl_open,
	.close = opencl_close,
	.alloc = opencl_alloc,
	.free = opencl_free,
	.write = opencl_write,
	.read = opencl_read,
	.copy = opencl_copy,
	.fill = opencl_fill,
	.sync = opencl_sync,
	.load = msd_opencl_load,
	.unload = msd_opencl_unload,
	.launch = msd_opencl_launch,
};
