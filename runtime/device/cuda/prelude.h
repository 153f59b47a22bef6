#ifndef MSD_RUNTIME_DEVICE_CUDA_PRELUDE_H
#define MSD_RUNTIME_DEVICE_CUDA_PRELUDE_H
/*
 * Definitions that generated CUDA C expects but NVRTC lacks. TVM compiles the source
 * after its own preamble but saves it without. A module has such source if it was
 * exported without a compiler.
 */
#include "proto/base/bytes.h"

#define MSD_CUDA_PRELUDE_HEADERS 6u

/* Host headers that generated source includes; the prelude already has their
 * contents. For nvrtcCreateProgram. */
extern const char *const msd_cuda_prelude_names[MSD_CUDA_PRELUDE_HEADERS];
extern const char *const msd_cuda_prelude_texts[MSD_CUDA_PRELUDE_HEADERS];

/**
 * Put the prelude, @source and a NUL into @ret (empty before). Line numbers are kept,
 * in a file called module.cu. False: out of memory.
 */
bool msd_cuda_prelude_put(struct msd_span source, struct msd_buf *ret);

#endif
