#ifndef MSD_CLI_PLUGINS_H
#define MSD_CLI_PLUGINS_H
/* Plugins (graph/modserd_plugin.h): additional formats and operators for this
 * command. */
#include "client/cli/cli.h"

/** Open the plugins of the command line. Reports failures. */
enum msd_exit msd_plugins_open(const struct msd_cli *cli);

#endif
