#ifndef MSD_CLI_OPTIONS_H
#define MSD_CLI_OPTIONS_H
/* The options of modser in one table: args.c parses them, help.c describes them. */
#include "client/cli/cli.h"

#define MSD_OPTIONS_MAX 80u

struct msd_option_row {
	const char *name;
	/* Applies the option, with its value or NULL; or NULL: store the value. */
	enum msd_exit (*apply)(struct msd_cli *cli, const char *value);
	size_t field;   /* offset in msd_cli: text with has_value, else flag */
	unsigned needs; /* enum msd_option; 0: every verb takes it */
	/* 0: none. Two options of different verbs may share a letter if both have a
	 * value. */
	char letter;
	bool has_value;
	bool is_former; /* the old spelling of another row: accepted and not shown */
};

/** The table; the last row has no name. */
extern const struct msd_option_row msd_options[];

#endif
