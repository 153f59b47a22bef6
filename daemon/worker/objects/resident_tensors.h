#ifndef MSD_WORKER_RESIDENT_TENSORS_H
#define MSD_WORKER_RESIDENT_TENSORS_H
/* Resident tensors, which stay in the worker between calls, by handle. On the host or
 * a device. */
#include "daemon/loop/handle.h"
#include "runtime/value/value.h"

struct msd_resident_tensors {
	struct msd_handles handles; /* of struct msd_tensor, owned */
	uint64_t live_bytes;
	uint64_t max_bytes;
};

/** Initialize, empty; all tensors together may have @max_bytes. */
void msd_resident_tensors_init(struct msd_resident_tensors *r, uint64_t max_bytes);
/** Drop all of them. */
void msd_resident_tensors_finish(struct msd_resident_tensors *r);
/**
 * Make a tensor of zeros on @device, which is opened. Errors: MSD_NO_SPACE (with the
 * sizes), MSD_NOMEM, and those of msd_dev_open().
 */
MSD_MUST_CHECK msd_err msd_resident_tensors_alloc(
	struct msd_resident_tensors *r, struct msd_device device,
	struct msd_dtype dtype, const int64_t *shape, size_t ndim,
	struct msd_handle *ret_handle, struct msd_tensor **ret, struct msd_diag *d);
/** Borrowed until freed; NULL for a stale handle. */
struct msd_tensor *msd_resident_tensors_peek(const struct msd_resident_tensors *r,
					     struct msd_handle h);
/** False for a stale handle. */
MSD_MUST_CHECK bool msd_resident_tensors_free(struct msd_resident_tensors *r,
					      struct msd_handle h);

#endif
