#ifndef MSD_RUNTIME_ABI_WORKSPACE_H
#define MSD_RUNTIME_ABI_WORKSPACE_H
/*
 * Scratch memory of compiled code, aligned to 128 bytes. The code mostly frees it in
 * reverse order and allocates it again in the next call. Each thread caches freed
 * blocks and returns them to the system when it exits.
 */
#include <stdint.h>

/**
 * NULL with the thread's error set if memory is short or the device is not open. For
 * a device other than the CPU it is device memory (runtime/device/workspace.h). The
 * two dtype hints are ignored.
 */
void *msd_workspace_alloc(int device_type, int device_id, uint64_t n_bytes,
			  int dtype_code_hint, int dtype_bits_hint);
int msd_workspace_free(int device_type, int device_id, void *p);

#endif
