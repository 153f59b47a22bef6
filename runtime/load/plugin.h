#ifndef MSD_RUNTIME_LOAD_PLUGIN_H
#define MSD_RUNTIME_LOAD_PLUGIN_H
/* Plugins (graph/modserd_plugin.h) of the process that runs modules. */
#include "proto/diag.h"

/** Open the plugin at @path, once; what it brings is there for every module loaded
 * afterwards. It executes code of others. Errors: msd_plugin_open()'s. */
MSD_MUST_CHECK msd_err msd_load_plugin(const char *path, struct msd_diag *d);

#endif
