#ifndef MSD_SUPERVISOR_CONFIG_H
#define MSD_SUPERVISOR_CONFIG_H
/*
 * Configuration files: `KEY = VALUE` for each option that may be in one
 * (option_rows.h), `KEY = {VALUE, ...}` for a list, and `module NAME {file = ... KEY =
 * VALUE ...}` for what --load takes. docs/configuration.md has the whole.
 */
#include "daemon/supervisor/options.h"

/**
 * Read the file @path into @o, then the modules of the files *.conf of the folder
 * modules.d beside it, by name. Errors: MSD_BAD_REQUEST, MSD_IO; the text begins with
 * the file and, where there is one, the line.
 */
MSD_MUST_CHECK msd_err msd_config_read(struct msd_options *o, const char *path,
				       struct msd_diag *d);
/**
 * The same of a file's text, called @path. @only_modules: options are refused. Not
 * thread-safe, as libconfuse is not. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_config_parse(struct msd_options *o, const char *path,
					struct msd_span text, bool only_modules,
					struct msd_diag *d);

#endif
