#ifndef MSD_SUPERVISOR_OPTIONS_READ_H
#define MSD_SUPERVISOR_OPTIONS_READ_H
/* How options are read: the command line over the configuration file over the defaults.
 */
#include "daemon/supervisor/options.h"

/**
 * Read @argv and the configuration file: the one of --config, else MSD_CONFIG_DEFAULT
 * where it is. Errors: MSD_BAD_REQUEST; the text names the option, or the file and its
 * line, and what it takes.
 */
MSD_MUST_CHECK msd_err msd_options_read(struct msd_options *o, int argc, char **argv,
					struct msd_diag *d);
/** The same of a daemon that serves: a file that is empty, or whose last line has no
 * end, is refused, for it may be cut. */
MSD_MUST_CHECK msd_err msd_options_read_again(struct msd_options *o, int argc,
					      char **argv, struct msd_diag *d);
/** That a daemon to which @n_handed sockets were handed over has something to listen
 * on. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_options_check_listen(const struct msd_options *o,
						uint32_t n_handed, struct msd_diag *d);

#endif
