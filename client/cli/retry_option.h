#ifndef MSD_CLI_RETRY_OPTION_H
#define MSD_CLI_RETRY_OPTION_H
/* Sends calls, and repeats them if --retry asks for that. */
#include "client/cli/values/steps.h"

/**
 * Connect, make the calls of @steps, disconnect; reports the final failure. After the
 * first call has run, they are repeated only if they may run twice.
 */
enum msd_exit msd_again_call(const struct msd_cli *cli, struct msd_steps *steps);

#endif
