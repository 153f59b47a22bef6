#ifndef MSD_CLI_SHOW_H
#define MSD_CLI_SHOW_H
/* Prints the answer of module.describe for people, each fact once, and the plan. */
#include "client/cli/cli.h"
#include "client/modser.h"

/**
 * Print @about as the command line says; JSON contains all of it. A ready model of a
 * framework is asked for its plan. If its workers are busy, a line says so.
 */
enum msd_exit msd_show_print(const struct msd_cli *cli, const modser_value *about);

#endif
