#ifndef MSD_RUNTIME_ENGINE_NATIVE_SELECT_H
#define MSD_RUNTIME_ENGINE_NATIVE_SELECT_H
/* The vector level of this process. */
#include <stdbool.h>

/**
 * The kernels of the best level that the machine has, not above MODSERD_SIMD (a level
 * of targets.h). Chosen at the first call.
 */
const struct msd_native_kernels *msd_native_kernels(void);
/** The kernels of level @name; NULL if the machine lacks it, or it is unknown. */
const struct msd_native_kernels *msd_native_level(const char *name);
/** True if @name is a level of any architecture of this build. */
bool msd_native_knows(const char *name);

#endif
