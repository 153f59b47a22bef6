#ifndef MSD_RUNTIME_DEVICE_MEMORY_H
#define MSD_RUNTIME_DEVICE_MEMORY_H
/*
 * Memory of an open device, cached for the next allocation: drivers take microseconds
 * to milliseconds for an allocation, and a call needs several. Queued work may still
 * use freed memory. The device has one queue, so work of the next owner runs later.
 *
 * A device never keeps more idle bytes than twice the peak of used bytes (or
 * MSD_DEV_IDLE_FLOOR_BYTES). Small blocks are up to a quarter larger than requested,
 * those beyond 16 MiB less than 2 MiB. If an allocation fails, all idle memory, also
 * of other devices, is freed, and the allocation is retried, finally with the exact
 * size. Any thread may call.
 */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

#define MSD_DEV_IDLE_FLOOR_BYTES ((size_t)64 * 1024 * 1024)

/**
 * @bytes (0 is fine) of device memory, contents undefined: data of an earlier owner.
 * MSD_NOMEM reports the requested size.
 */
MSD_MUST_CHECK msd_err msd_dev_alloc(struct msd_dev *dev, size_t bytes, void **ret,
				     struct msd_diag *d);
/** @bytes must be the allocated size. */
void msd_dev_free(struct msd_dev *dev, void *p, size_t bytes);

/** Device memory as an object that keeps the device open: one reference. */
MSD_MUST_CHECK msd_err msd_dev_storage(struct msd_dev *dev, size_t bytes,
				       struct msd_storage **ret, struct msd_diag *d);
/** A compact tensor with fresh memory on @dev; contents undefined. */
MSD_MUST_CHECK msd_err msd_dev_tensor(struct msd_dev *dev, struct msd_dtype dtype,
				      const int64_t *shape, size_t ndim,
				      struct msd_tensor **ret, struct msd_diag *d);

/** Replace the compact host tensor in @v by a copy on @dev; done on return. */
MSD_MUST_CHECK msd_err msd_dev_tensor_move(struct msd_dev *dev, struct msd_any *v,
					   struct msd_diag *d);

/* Called by device.c when the device opens and closes. */
MSD_MUST_CHECK msd_err msd_dev_pool_create(struct msd_dev *dev, struct msd_diag *d);
void msd_dev_pool_destroy(struct msd_dev *dev); /* all memory must be freed before */
/** Return all idle memory to the driver. */
void msd_dev_pool_trim(struct msd_dev *dev);

#endif
