#ifndef MSD_WORKER_STAGE_H
#define MSD_WORKER_STAGE_H
/*
 * Tensors of a call that belong on a device. Their bytes come and go in shared memory
 * of the host; here they are queued for the device and back, and the worker waits once,
 * before the reply. Until then the host's memory of the call stays as it is.
 */
#include "daemon/worker/call.h"
#include "runtime/device/device.h"

/** A tensor of @t's dtype and shape on @dev with the bytes at @src; NULL: zeros. One
 * reference. */
MSD_MUST_CHECK msd_err msd_stage_in(struct msd_call *call,
				    const struct msd_wire_tensor *t,
				    struct msd_dev *dev, const uint8_t *src,
				    struct msd_tensor **ret, struct msd_diag *d);
/** Queue @n bytes of @t, which is on a device, for @dst. */
MSD_MUST_CHECK msd_err msd_stage_back(struct msd_call *call,
				      const struct msd_dltensor *t, uint8_t *dst,
				      size_t n, struct msd_diag *d);
/** Queue the out tensors that the callee filled on a device. */
MSD_MUST_CHECK msd_err msd_stage_outs(struct msd_call *call, struct msd_diag *d);
/** Wait for what the call has queued, its kernels included. */
MSD_MUST_CHECK msd_err msd_stage_wait(struct msd_call *call, struct msd_diag *d);
/** Tensors on two devices: MSD_BAD_ARGUMENT names both and their arguments. From now on
 * the call waits for the one that they are on. */
MSD_MUST_CHECK msd_err msd_stage_check(struct msd_call *call, struct msd_diag *d);

#endif
