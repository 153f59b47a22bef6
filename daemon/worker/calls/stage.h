#ifndef MSD_WORKER_STAGE_H
#define MSD_WORKER_STAGE_H
/*
 * Copies a call's tensors to a device and back. Their bytes are in shared host
 * memory. The copies are queued on the device, and the worker waits once, before the
 * reply. Until that wait the call's host memory must not change.
 */
#include "daemon/worker/calls/call.h"
#include "runtime/device/device.h"

/**
 * Make a tensor of @t's dtype and shape on @dev with the bytes at @src; NULL: zeros.
 * One reference.
 */
MSD_MUST_CHECK msd_err msd_stage_in(struct msd_call *call,
				    const struct msd_wire_tensor *t,
				    struct msd_dev *dev, const uint8_t *src,
				    struct msd_tensor **ret, struct msd_diag *d);
/** Queue the copy of @n bytes of @t, which is on a device, to @dst. */
MSD_MUST_CHECK msd_err msd_stage_back(struct msd_call *call,
				      const struct msd_dltensor *t, uint8_t *dst,
				      size_t n, struct msd_diag *d);
/** Queue the copies of the out tensors that the callee filled on a device. */
MSD_MUST_CHECK msd_err msd_stage_outs(struct msd_call *call, struct msd_diag *d);
/** Wait for the call's queued work, including its kernels. */
MSD_MUST_CHECK msd_err msd_stage_wait(struct msd_call *call, struct msd_diag *d);
/**
 * Check that all tensors are on one device; MSD_BAD_ARGUMENT names two devices and
 * their arguments. From now on the call waits for that device.
 */
MSD_MUST_CHECK msd_err msd_stage_check(struct msd_call *call, struct msd_diag *d);

#endif
