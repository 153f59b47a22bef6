#ifndef MSD_RUNTIME_DEVICE_CUDA_BUILD_H
#define MSD_RUNTIME_DEVICE_CUDA_BUILD_H
/*
 * Code becomes a loaded module: images as they are, PTX by the driver's linker, source
 * by NVRTC. What was compiled is kept on disk as a cubin, with its code, the device and
 * the driver as the key, and taken from there the next time.
 */
#include "runtime/device/cuda/cuda.h"

/** MSD_UNSUPPORTED has the compiler's log. The context is current. */
MSD_MUST_CHECK msd_err msd_cuda_build(const struct msd_cuda *cuda,
				      const struct msd_device_blob *blob,
				      struct cu_module **ret, struct msd_diag *d);

#endif
