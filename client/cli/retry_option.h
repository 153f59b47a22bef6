#ifndef MSD_CLI_RETRY_OPTION_H
#define MSD_CLI_RETRY_OPTION_H
/* Sends a call, and repeats it if --retry asks for that. */
#include "client/cli/values/arguments.h"

/**
 * Connect, call the first word of @cli with @args, disconnect; reports the final
 * failure. The caller frees *@ret in every case.
 */
enum msd_exit msd_again_call(const struct msd_cli *cli, struct msd_arguments *args,
			     modser_result **ret);

#endif
