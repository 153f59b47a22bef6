#ifndef MSD_RUNTIME_DEVICE_CUDA_SOURCE_H
#define MSD_RUNTIME_DEVICE_CUDA_SOURCE_H
/*
 * Compile CUDA C++ source with NVRTC, which is opened with dlopen at the first
 * compilation. The library is $MODSERD_LIBNVRTC, else the newest one that the driver
 * accepts and that supports the device, in the linker's path and below $CUDA_HOME or
 * /usr/local/cuda. Included headers are those of the same release. Options and
 * preamble are TVM's, and therefore also the digits (fast math). No device is needed.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Compile for a device of @capability (90: 9.0). *@ret, empty before, gets a cubin,
 * or PTX (*@ret_is_ptx) if NVRTC is older than the device. The caller finishes *@ret,
 * also on failure. Errors: MSD_UNSUPPORTED (no NVRTC: the text lists what was tried;
 * or it rejects the source: its log), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_cuda_source_compile(struct msd_span source, int capability,
					       struct msd_buf *ret, bool *ret_is_ptx,
					       struct msd_diag *d);
/**
 * Append the other inputs of such a compilation to @ret (empty before; finish it):
 * NVRTC's release and the options, as a text without a NUL. Errors as above.
 */
MSD_MUST_CHECK msd_err msd_cuda_source_key(int capability, struct msd_buf *ret,
					   struct msd_diag *d);

#endif
