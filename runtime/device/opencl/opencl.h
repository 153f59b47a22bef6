#ifndef MSD_RUNTIME_DEVICE_OPENCL_OPENCL_H
#define MSD_RUNTIME_DEVICE_OPENCL_OPENCL_H
/*
 * The OpenCL backend's open device. Private to opencl*.c.
 *
 * An OpenCL buffer has no address, but compiled code and the VM do address
 * arithmetic. So each buffer gets an inaccessible range of this process's address
 * space, and its addresses stand for the buffer's bytes. A launch with an argument
 * that points into a buffer gets a sub-buffer.
 */
#include <pthread.h>

#include "runtime/device/opencl/api.h"

/* A sub-buffer that a kernel was given; kept because the next launch needs it again. */
struct msd_opencl_part {
	struct msd_opencl_part *next;
	size_t offset;
	struct cl_mem *mem; /* from offset to the end */
};

struct msd_opencl_range {
	uint8_t *base;
	size_t bytes;
	size_t reserved; /* bytes of address space, whole pages */
	struct cl_mem *mem;
	struct msd_opencl_part *parts;
};

struct msd_opencl {
	struct msd_dev dev; /* first member: opencl_of() downcasts */
	const struct msd_opencl_api *api;
	struct msd_opencl_place place;
	struct cl_context *context;
	struct cl_queue *queue; /* in-order queue */
	size_t base_align;      /* bytes; alignment of sub-buffers */
	uint64_t max_alloc;
	pthread_mutex_t lock;            /* protects the ranges */
	struct msd_opencl_range *ranges; /* sorted by base */
	size_t n_ranges;
	size_t room;
};

static inline struct msd_opencl *msd_opencl_of(struct msd_dev *dev)
{
	return (struct msd_opencl *)(void *)dev; /* first member */
}

/**
 * The buffer that a kernel gets for @address; borrowed until it is freed. NULL gives
 * NULL. MSD_BAD_ARGUMENT: not memory of this device.
 */
MSD_MUST_CHECK msd_err msd_opencl_buffer(struct msd_opencl *cl, const void *address,
					 struct cl_mem **ret, struct msd_diag *d);

/* program.c */
msd_err msd_opencl_load(struct msd_dev *dev, const struct msd_device_blob *blob,
			struct msd_dev_program **ret, struct msd_diag *d);
void msd_opencl_unload(struct msd_dev_program *program);
msd_err msd_opencl_launch(struct msd_dev_program *program, size_t index,
			  const struct msd_launch *launch, struct msd_diag *d);

/* build.c */
/**
 * A built program of @source, from the cache if it is there. On MSD_UNSUPPORTED, @d
 * has the build log.
 */
MSD_MUST_CHECK msd_err msd_opencl_build_source(struct msd_opencl *cl,
					       struct msd_span source,
					       struct cl_program **ret,
					       struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_opencl_build_binary(struct msd_opencl *cl,
					       struct msd_span binary,
					       struct cl_program **ret,
					       struct msd_diag *d);

#endif
