#ifndef MSD_SUPERVISOR_CONFIG_FILE_H
#define MSD_SUPERVISOR_CONFIG_FILE_H

/* Check that a pull would accept the sources of modules. */

#include "daemon/supervisor/config/options.h"

/**
 * Let modserd-fetch validate each source without contacting it. @fetch_path: NULL if
 * modserd-fetch is not installed. Errors: MSD_UNSUPPORTED (not installed), MSD_IO, or
 * modserd-fetch's error for the first invalid source.
 */
MSD_MUST_CHECK msd_err msd_config_check_sources(const struct msd_options *o,
						const char *fetch_path,
						struct msd_diag *d);

#endif
