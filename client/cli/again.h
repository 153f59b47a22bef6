#ifndef MSD_CLI_AGAIN_H
#define MSD_CLI_AGAIN_H
/* A call that is sent, and, where --retry asks for it, sent again. */
#include "client/cli/arguments.h"

/** Connect, call the first word of @cli with @args, disconnect; what fails in the end
 * is reported. The caller frees *@ret in every case. */
enum msd_exit msd_again_call(const struct msd_cli *cli, struct msd_arguments *args,
			     modser_result **ret);

#endif
