#ifndef MSD_RUNTIME_ABI_WORKSPACE_H
#define MSD_RUNTIME_ABI_WORKSPACE_H
/*
 * Scratch memory of compiled code: 128-byte-aligned, freed mostly in reverse order and
 * asked for again at the next call. Each thread keeps what was freed, gives it out
 * again, and gives it back to the system when it ends.
 */
#include <stdint.h>

/** NULL with the thread's error set when memory is short or the device is not open. On
 * another device than the CPU it is that device's memory (runtime/device/workspace.h).
 * The two dtype hints are ignored. */
void *msd_workspace_alloc(int device_type, int device_id, uint64_t n_bytes,
			  int dtype_code_hint, int dtype_bits_hint);
int msd_workspace_free(int device_type, int device_id, void *p);

#endif
