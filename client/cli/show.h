#ifndef MSD_CLI_SHOW_H
#define MSD_CLI_SHOW_H
/* What module.describe answers, for people: each fact once. */
#include "client/cli/cli.h"
#include "client/modser.h"

/** Print @about as the command line says; JSON has it whole. */
void msd_show_print(const struct msd_cli *cli, const modser_value *about);

#endif
