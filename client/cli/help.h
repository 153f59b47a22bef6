#ifndef MSD_CLI_HELP_H
#define MSD_CLI_HELP_H
/* What `modser help` and --help print. */
#include "client/cli/cli.h"

/** Print all about @verb: its usage, the options that it takes, its exit codes. NULL:
 * the list of verbs. */
void msd_help_print(const struct msd_verb *verb);

#endif
