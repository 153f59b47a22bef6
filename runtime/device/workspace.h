#ifndef MSD_RUNTIME_DEVICE_WORKSPACE_H
#define MSD_RUNTIME_DEVICE_WORKSPACE_H
/*
 * Scratch memory on a device for compiled host code, which frees it by its address
 * alone. Any thread may call.
 */
#include "proto/diag.h"
#include "proto/dtype.h"

/** The device must be open: MSD_UNSUPPORTED otherwise. Else as msd_dev_alloc(). */
MSD_MUST_CHECK msd_err msd_dev_workspace_alloc(struct msd_device device,
					       uint64_t n_bytes, void **ret,
					       struct msd_diag *d);
/** Addresses that are no workspace are left alone. */
void msd_dev_workspace_free(void *p);

#endif
