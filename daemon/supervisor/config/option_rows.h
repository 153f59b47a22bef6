#ifndef MSD_SUPERVISOR_OPTION_ROWS_H
#define MSD_SUPERVISOR_OPTION_ROWS_H
/*
 * The table of modserd's options. A row is an option of the command line. Unless it
 * says otherwise, it is also a key of the configuration file, with the same name and
 * values. To add an option, add a row in option_rows.c, or a limit in limits.h.
 */
#include "daemon/supervisor/config/options.h"

enum msd_option_when {
	MSD_OPTION_NOW,     /* command line only: selects the action */
	MSD_OPTION_RESTART, /* a change takes effect at the next start */
	MSD_OPTION_RELOAD   /* a reload applies a change */
};

struct msd_option {
	const char *name;
	enum msd_option_when when;
	int argument;      /* getopt's has_arg */
	size_t offset;     /* field in struct msd_options that read and write use; for a
			      list, the field of its length */
	const char *limit; /* help text if it is a limit */
	const char *limit_field;
	uint64_t value; /* default value; for an action, its number */
	/**
	 * Errors: MSD_BAD_REQUEST; the text says what was expected instead of @value.
	 */
	msd_err (*read)(struct msd_options *o, const struct msd_option *row,
			const char *value, struct msd_diag *d);
	/**
	 * Append the value in the syntax of the file; nothing if it is not set. NULL:
	 * it is not a key of the file.
	 */
	void (*write)(const struct msd_options *o, const struct msd_option *row,
		      struct msd_buf *ret);
	bool is_list; /* read is called for each value of the list */
};

/** Row @i, or NULL after the last one. */
const struct msd_option *msd_option_row(unsigned i);
/** The number of the row @name, which may be a former name, or a number after the last
 * row. */
unsigned msd_option_find(const char *name);
/** Former name @i of an option, which is accepted and not shown; NULL after the last.
 */
const char *msd_option_former(unsigned i);
/** The word for the value 0 of a limit, such as "unlimited"; NULL: 0 is a number. */
const char *msd_option_zero(const struct msd_option *row);
/**
 * The name of a row that is similar to @name, up to a '='; NULL if no name is
 * similar.
 */
const char *msd_option_near(const char *name);
/** The value in @l of an option that is a limit. */
uint64_t *msd_option_limit(struct msd_limits *l, const struct msd_option *row);
/** Set the default of each option; @o must be zero. */
void msd_option_defaults(struct msd_options *o);

#endif
