#ifndef MSD_CLI_OPTIONS_H
#define MSD_CLI_OPTIONS_H
/* The options of modser in one table: parsed by args.c, explained by help.c. */
#include "client/cli/cli.h"

#define MSD_OPTIONS_MAX 64u

struct msd_option_row {
	const char *name;
	/* What it does beyond keeping its value, which is NULL for one without; or
	 * NULL: */
	enum msd_exit (*apply)(struct msd_cli *cli, const char *value);
	size_t field;   /* of struct msd_cli, a text with has_value, else a flag */
	unsigned needs; /* enum msd_option; 0: every verb takes it */
	/* 0: none. Options of different verbs may share one, when both have a value. */
	char letter;
	bool has_value;
};

/** The table, ended by a row without a name. */
extern const struct msd_option_row msd_options[];

#endif
