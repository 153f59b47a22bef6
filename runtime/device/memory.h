#ifndef MSD_RUNTIME_DEVICE_MEMORY_H
#define MSD_RUNTIME_DEVICE_MEMORY_H
/*
 * Memory of an open device, kept for the next taker: drivers take microseconds to
 * milliseconds for an allocation, and a call needs several. What is freed may still be
 * used by work that is queued; as there is one queue, the next taker's work comes
 * after.
 *
 * A device never keeps more idle than twice what was in use at one time (or
 * MSD_DEV_IDLE_FLOOR_BYTES). Small blocks are up to a quarter larger than was asked
 * for, those beyond 16 MiB less than 2 MiB. When an allocation fails, everything idle
 * is given back, other devices' too, and it is tried again, in the end with the exact
 * size. Any thread may call.
 */
#include "runtime/device/device.h"
#include "runtime/value/value.h"

#define MSD_DEV_IDLE_FLOOR_BYTES ((size_t)64 * 1024 * 1024)

/** @bytes (0 is fine) of device memory, contents undefined: what an earlier owner left
 * there. MSD_NOMEM says how much was asked for. */
MSD_MUST_CHECK msd_err msd_dev_alloc(struct msd_dev *dev, size_t bytes, void **ret,
				     struct msd_diag *d);
/** @bytes as at the allocation. */
void msd_dev_free(struct msd_dev *dev, void *p, size_t bytes);

/** Device memory as an object, which keeps the device open: one reference. */
MSD_MUST_CHECK msd_err msd_dev_storage(struct msd_dev *dev, size_t bytes,
				       struct msd_storage **ret, struct msd_diag *d);
/** A compact tensor with fresh memory on @dev; contents undefined. */
MSD_MUST_CHECK msd_err msd_dev_tensor(struct msd_dev *dev, struct msd_dtype dtype,
				      const int64_t *shape, size_t ndim,
				      struct msd_tensor **ret, struct msd_diag *d);

/** Replace the tensor of the host in @v, which is compact, by a copy on @dev; done on
 * return. */
MSD_MUST_CHECK msd_err msd_dev_tensor_move(struct msd_dev *dev, struct msd_any *v,
					   struct msd_diag *d);

/* Of device.c: when the device opens and closes. */
MSD_MUST_CHECK msd_err msd_dev_pool_create(struct msd_dev *dev, struct msd_diag *d);
void msd_dev_pool_destroy(struct msd_dev *dev); /* all was freed */
/** Give everything idle back to the driver. */
void msd_dev_pool_trim(struct msd_dev *dev);

#endif
