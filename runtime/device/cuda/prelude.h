#ifndef MSD_RUNTIME_DEVICE_CUDA_PRELUDE_H
#define MSD_RUNTIME_DEVICE_CUDA_PRELUDE_H
/*
 * What generated CUDA C counts on and NVRTC does not bring: TVM compiles it behind a
 * preamble of its own, and saves it without. A module that was exported where no
 * compiler was comes as such source.
 */
#include "proto/bytes.h"

#define MSD_CUDA_PRELUDE_HEADERS 6u

/* Headers of the host, by whose names generated source asks for what the prelude has
 * brought already. For nvrtcCreateProgram. */
extern const char *const msd_cuda_prelude_names[MSD_CUDA_PRELUDE_HEADERS];
extern const char *const msd_cuda_prelude_texts[MSD_CUDA_PRELUDE_HEADERS];

/** The prelude and @source behind it, with a NUL, into @ret (empty before). Lines
 * keep their numbers, in a file called module.cu. False: no memory. */
bool msd_cuda_prelude_put(struct msd_span source, struct msd_buf *ret);

#endif
