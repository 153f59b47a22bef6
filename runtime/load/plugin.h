#ifndef MSD_RUNTIME_LOAD_PLUGIN_H
#define MSD_RUNTIME_LOAD_PLUGIN_H
/* Plugins (graph/modserd_plugin.h) of the process that runs modules. */
#include "proto/base/diag.h"

/**
 * Open the plugin at @path, once; modules loaded afterwards can use its extensions.
 * This executes third-party code. Errors: those of msd_plugin_open().
 */
MSD_MUST_CHECK msd_err msd_load_plugin(const char *path, struct msd_diag *d);

#endif
