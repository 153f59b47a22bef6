#ifndef MSD_RUNTIME_DEVICE_CUDA_SOURCE_H
#define MSD_RUNTIME_DEVICE_CUDA_SOURCE_H
/*
 * CUDA C++ source, compiled by NVRTC, which is opened with dlopen when source comes:
 * $MODSERD_LIBNVRTC, else the newest that the driver takes and that knows the device,
 * in the linker's path and below $CUDA_HOME or /usr/local/cuda. Headers that the source
 * includes are those of the same release. Options and preamble are TVM's, and so are
 * the digits (fast math). No device is needed.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * Compile for a device of @capability (90: 9.0). *@ret, empty before, gets a cubin, or
 * PTX when NVRTC is older than the device: *@ret_is_ptx. The caller finishes *@ret, on
 * failure as well. Errors: MSD_UNSUPPORTED (no NVRTC: what was looked for; source
 * that it refuses: its log), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_cuda_source_compile(struct msd_span source, int capability,
					       struct msd_buf *ret, bool *ret_is_ptx,
					       struct msd_diag *d);
/**
 * What such a compilation depends on beside source and device: NVRTC's release and the
 * options, as a text without a NUL, into @ret (empty before; finish it). Errors as
 * above.
 */
MSD_MUST_CHECK msd_err msd_cuda_source_key(int capability, struct msd_buf *ret,
					   struct msd_diag *d);

#endif
