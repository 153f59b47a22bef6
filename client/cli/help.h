#ifndef MSD_CLI_HELP_H
#define MSD_CLI_HELP_H
/* Prints the output of `modser help` and --help. */
#include "client/cli/cli.h"

/** Print the usage, options and exit codes of @verb. NULL: the list of verbs. */
void msd_help_print(const struct msd_verb *verb);

#endif
