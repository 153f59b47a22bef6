#ifndef MSD_GRAPH_PLUGIN_PLUGIN_H
#define MSD_GRAPH_PLUGIN_PLUGIN_H
/* Opening a plugin: what modserd_plugin.h promises it. Code of others runs here. */
#include <modserd_plugin.h>

#include "proto/diag.h"

/* The most that a process opens. */
#define MSD_PLUGINS_MAX 64

/** Have these all that they need? False with modser_registration_error(). */
MSD_MUST_CHECK bool msd_plugin_check_kernel(const modserd_kernel *kernel);
MSD_MUST_CHECK bool msd_plugin_check_engine(const modserd_engine *engine);
/**
 * Open the shared object at @path and let it register what it has; it stays open. One
 * that has done so already is left as it is, one that refused is refused again. Errors:
 * MSD_UNSUPPORTED (no plugin, another version of the interface), MSD_BAD_ARTIFACT (it
 * refused), MSD_BUSY (MSD_PLUGINS_MAX are open); the text names the file. For one
 * thread.
 */
MSD_MUST_CHECK msd_err msd_plugin_open(const char *path, const modserd_host *host,
				       struct msd_diag *d);

#endif
