#ifndef MSD_CLI_PROGRAM_PATH_H
#define MSD_CLI_PROGRAM_PATH_H
#include <limits.h>

#include "proto/base/diag.h"

/**
 * The path of the helper program @name: $@variable, or beside this program, or in
 * ../libexec/modserd. Errors: MSD_UNSUPPORTED (it is not installed).
 */
MSD_MUST_CHECK msd_err msd_program_path(const char *name, const char *variable,
					char ret[static PATH_MAX], struct msd_diag *d);

#endif
