#ifndef MSD_TESTS_LEVELS_H
#define MSD_TESTS_LEVELS_H
/* The kernels of each vector level that this machine can run. */
#include "runtime/engine/native/kernels.h"

#define LEVELS_MOST 5u

/** The number of levels in @ret, the widest first; "wide" is avx512 by avx2. */
size_t levels_find(const struct msd_native_kernels *ret[static LEVELS_MOST]);
/** True if the level has fused multiply-add: all of these have the same bits. */
bool levels_is_fused(const struct msd_native_kernels *k);
/** @n floats of a fixed pattern around 0, another one for each @seed. */
float *levels_numbers(size_t n, unsigned seed);

#endif
