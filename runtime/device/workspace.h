#ifndef MSD_RUNTIME_DEVICE_WORKSPACE_H
#define MSD_RUNTIME_DEVICE_WORKSPACE_H
/* Scratch memory on a device for compiled host code, which frees it by address only.
 * Any thread may call. */
#include "proto/base/diag.h"
#include "proto/dtype.h"

/** The device must be open, else MSD_UNSUPPORTED. Other errors as msd_dev_alloc(). */
MSD_MUST_CHECK msd_err msd_dev_workspace_alloc(struct msd_device device,
					       uint64_t n_bytes, void **ret,
					       struct msd_diag *d);
/** Ignores addresses that are not workspaces. */
void msd_dev_workspace_free(void *p);

#endif
