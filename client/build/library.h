#ifndef MSD_CLI_LIBRARY_H
#define MSD_CLI_LIBRARY_H
/* Inspects a library, with this machine's libraries for symbol lookup. */
#include "artifact/inspect/inspect.h"
#include "client/cli/cli.h"

/**
 * Inspect @file, and search this machine's libraries for symbols without another
 * provider. Code of another machine is not searched for. The caller owns *@ret.
 * Errors: those of msd_inspect_read() and msd_system_read().
 */
MSD_MUST_CHECK msd_err msd_library_look(const struct msd_cli *cli, struct msd_span file,
					struct msd_inspect **ret, struct msd_diag *d);

#endif
