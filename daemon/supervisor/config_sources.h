#ifndef MSD_SUPERVISOR_CONFIG_SOURCES_H
#define MSD_SUPERVISOR_CONFIG_SOURCES_H
/* Whether modules' sources are such that a pull takes. */
#include "daemon/supervisor/options.h"

/** Have modserd-fetch judge each source, without asking it. @fetch_path: NULL: it is
 * not there. MSD_UNSUPPORTED (it is not), MSD_IO, what it says of the first bad one. */
MSD_MUST_CHECK msd_err msd_config_check_sources(const struct msd_options *o,
						const char *fetch_path,
						struct msd_diag *d);

#endif
