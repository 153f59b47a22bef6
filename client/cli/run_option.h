#ifndef MSD_CLI_RUN_OPTION_H
#define MSD_CLI_RUN_OPTION_H
/* The options of `modser load` and `modser pull` that say how the module runs. */
#include "client/cli/cli.h"
#include "client/modser.h"

/** Apply the option with its @value, NULL for a flag; a wrong value is reported. */
enum msd_exit msd_run_option_apply(struct msd_cli *cli, enum msd_run_key_id id,
				   const char *value);
/** Copy the options of @cli, from which @ret borrows; other fields are unchanged. */
void msd_run_option_to_load(const struct msd_cli *cli, modser_load_options *ret);
void msd_run_option_to_pull(const struct msd_cli *cli, modser_pull_options *ret);

#endif
