#ifndef MSD_RUNTIME_DEVICE_CUDA_BUILD_H
#define MSD_RUNTIME_DEVICE_CUDA_BUILD_H
/*
 * Turn code into a loaded module: images unchanged, PTX by the driver's linker,
 * source by NVRTC. Compiled code is cached on disk as a cubin, with the code, device
 * and driver as the key.
 */
#include "runtime/device/cuda/cuda.h"

/** On MSD_UNSUPPORTED, @d has the compiler's log. The context must be current. */
MSD_MUST_CHECK msd_err msd_cuda_build(const struct msd_cuda *cuda,
				      const struct msd_device_blob *blob,
				      struct cu_module **ret, struct msd_diag *d);

#endif
