#ifndef MSD_SUPERVISOR_OPTION_ROWS_H
#define MSD_SUPERVISOR_OPTION_ROWS_H
/*
 * The table of modserd's options: a row is an option of the command line and, unless it
 * says otherwise, a key of the configuration file, under the same name and with the
 * same values. A new one is a row in option_rows.c, or a limit in limits.h.
 */
#include "daemon/supervisor/options.h"

enum msd_option_when {
	MSD_OPTION_NOW,     /* of the command line alone: what to do */
	MSD_OPTION_RESTART, /* a change waits for the next start */
	MSD_OPTION_RELOAD   /* a change is taken over when the file is read again */
};

struct msd_option {
	const char *name;
	enum msd_option_when when;
	int argument;      /* as getopt has it */
	size_t offset;     /* in struct msd_options, of what read and write know; of a
			    * list, of how long it is */
	const char *limit; /* the sentence of one that is a limit */
	const char *limit_field;
	uint64_t value; /* its default; what to do instead of serving */
	/** Errors: MSD_BAD_REQUEST, saying what was expected instead of @value. */
	msd_err (*read)(struct msd_options *o, const struct msd_option *row,
			const char *value, struct msd_diag *d);
	/** Append what is set, as a file has it; nothing when nothing is. NULL: it is
	 * no key of a file. */
	void (*write)(const struct msd_options *o, const struct msd_option *row,
		      struct msd_buf *ret);
	bool is_list; /* read is called for each of its values */
};

/** Row @i, or NULL behind the last. */
const struct msd_option *msd_option_row(unsigned i);
/** The number of the row called @name, or that of none. */
unsigned msd_option_find(const char *name);
/** The name of a row that @name, up to a '=', may stand for; NULL: none is near. */
const char *msd_option_near(const char *name);
/** The value in @l of an option that is a limit. */
uint64_t *msd_option_limit(struct msd_limits *l, const struct msd_option *row);
/** Every option's default, in an @o that is zero. */
void msd_option_defaults(struct msd_options *o);

#endif
