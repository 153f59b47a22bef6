#ifndef MSD_SUPERVISOR_OPTIONS_READ_H
#define MSD_SUPERVISOR_OPTIONS_READ_H
/* Read the options: the command line overrides the configuration file, and the file
 * overrides the defaults. */
#include "daemon/supervisor/config/options.h"

/**
 * Read @argv and the configuration file: the one of --config, else MSD_CONFIG_DEFAULT
 * if it exists. Errors: MSD_BAD_REQUEST; the text names the option, or the file and
 * its line, and the values that it accepts.
 */
MSD_MUST_CHECK msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
					struct msd_diag *d);
/**
 * The same for a running daemon. It rejects a file that is empty or whose last line
 * has no newline, because such a file may be truncated.
 */
MSD_MUST_CHECK msd_err msd_options_read_again(struct msd_options *o, int argc,
					      char **argv, struct msd_diag *d);
/**
 * Check that a daemon that got @n_handed sockets has an address to listen on. Errors:
 * MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_options_check_listen(const struct msd_options *o,
						uint32_t n_handed, struct msd_diag *d);

#endif
