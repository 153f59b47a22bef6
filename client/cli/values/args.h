#ifndef MSD_CLI_ARGS_H
#define MSD_CLI_ARGS_H
/* argv -> struct msd_cli. */
#include "client/cli/cli.h"

/**
 * Parse. Options may stand anywhere, before and after the verb, until "--". A word
 * that parses as a number is never an option. On failure, reports it and returns the
 * exit code. End with msd_args_finish() in any case.
 */
enum msd_exit msd_args_parse(int argc, char **argv, struct msd_cli *ret);
void msd_args_finish(struct msd_cli *cli);

#endif
