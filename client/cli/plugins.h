#ifndef MSD_CLI_PLUGINS_H
#define MSD_CLI_PLUGINS_H
/* Plugins (graph/modserd_plugin.h): further formats and operators for this command. */
#include "client/cli/cli.h"

/** Open those that the command line names. What fails is reported. */
enum msd_exit msd_plugins_open(const struct msd_cli *cli);

#endif
