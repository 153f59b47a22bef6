#ifndef MSD_CLI_SHOW_H
#define MSD_CLI_SHOW_H
/* Prints the answer of module.describe for people, each fact once. */
#include "client/cli/cli.h"
#include "client/modser.h"

/** Print @about as the command line says; JSON contains all of it. */
void msd_show_print(const struct msd_cli *cli, const modser_value *about);

#endif
