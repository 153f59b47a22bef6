#ifndef MSD_RUNTIME_LOAD_PLUGIN_VALUES_H
#define MSD_RUNTIME_LOAD_PLUGIN_VALUES_H
/* The functions of struct modserd_host that a plugin's packed functions use. */
#include <modserd_plugin.h>

/** Fill in all members of @host from `raise` to the last. */
void msd_plugin_values_put(modserd_host *host);

#endif
