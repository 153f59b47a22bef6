#ifndef MSD_RUNTIME_MODULE_NEAREST_H
#define MSD_RUNTIME_MODULE_NEAREST_H
#include "runtime/module/module.h"

/**
 * Append "; near it: " and up to three names similar to @name, else "; it has: " and
 * three existing names, models first; nothing if there are none.
 */
void msd_nearest_names(const char *name, const struct msd_func_info *const *infos,
		       size_t n, struct msd_buf *out);

#endif
