#ifndef MSD_SUPERVISOR_CONFIG_H
#define MSD_SUPERVISOR_CONFIG_H
/*
 * Configuration files: `KEY = VALUE` for each option that a file may contain
 * (option_rows.h), `KEY = {VALUE, ...}` for a list, and `module NAME {file = ... KEY
 * = VALUE ...}` for the arguments of --load. docs/reference/configuration.md describes
 * all of it.
 */
#include "daemon/supervisor/config/options.h"

/**
 * Read the file @path into @o, then the module files *.conf of the folder modules.d
 * next to it, sorted by name. Errors: MSD_BAD_REQUEST, MSD_IO; the text begins with
 * the file and, if known, the line.
 */
MSD_MUST_CHECK msd_err msd_config_read(struct msd_options *o, const char *path,
				       struct msd_diag *d);
/**
 * Parse @text as the content of the file @path. @only_modules: reject options. Not
 * thread-safe, because libconfuse is not. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_config_parse(struct msd_options *o, const char *path,
					struct msd_span text, bool only_modules,
					struct msd_diag *d);

#endif
