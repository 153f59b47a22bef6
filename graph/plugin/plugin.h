#ifndef MSD_GRAPH_PLUGIN_PLUGIN_H
#define MSD_GRAPH_PLUGIN_PLUGIN_H
/* Open plugins as modserd_plugin.h describes. This runs third-party code. */
#include <modserd_plugin.h>

#include "proto/base/diag.h"
#include "proto/words/plugin_list.h"

/* Maximum number of plugins of a process. */
#define MSD_PLUGINS_MAX 64

/** Check that all required members are set. False with modser_registration_error(). */
MSD_MUST_CHECK bool msd_plugin_check_kernel(const modserd_kernel *kernel);
MSD_MUST_CHECK bool msd_plugin_check_engine(const modserd_engine *engine);
/** A checked engine, with NULL for members that its header did not have. */
modserd_engine msd_plugin_engine(const modserd_engine *engine);
MSD_MUST_CHECK bool msd_plugin_check_layout(const modserd_layout *layout);
MSD_MUST_CHECK bool msd_plugin_check_function(const modserd_function *function);
MSD_MUST_CHECK bool msd_plugin_check_module_kind(const modserd_module_kind *kind);
/**
 * For functions of modserd_host, while a plugin registers: call @add if the plugin
 * lists the entry and has not added it before. Returns 0, or -1 with
 * modser_registration_error().
 */
MSD_MUST_CHECK int msd_plugin_add_listed(enum msd_plugin_word word, const char *name,
					 int (*add)(void *ctx), void *ctx);
/**
 * Open the shared object at @path and let it register; it stays open. A plugin that
 * has registered is left unchanged; one that failed fails again. Errors:
 * MSD_UNSUPPORTED (no plugin, another version of the interface), MSD_BAD_ARTIFACT (it
 * refused), MSD_BUSY (MSD_PLUGINS_MAX are open); the text names the file. Not
 * thread-safe.
 */
MSD_MUST_CHECK msd_err msd_plugin_open(const char *path, const modserd_host *host,
				       struct msd_diag *d);

#endif
