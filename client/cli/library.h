#ifndef MSD_CLI_LIBRARY_H
#define MSD_CLI_LIBRARY_H
/* A library inspected with this machine's own at hand. */
#include "artifact/inspect/inspect.h"
#include "client/cli/cli.h"

/** Inspect @file, and ask this machine's libraries for what nobody else has; not for
 * code of another machine, which they are of no use to. The caller owns *@ret. Errors:
 * those of msd_inspect_read() and msd_system_read(). */
MSD_MUST_CHECK msd_err msd_library_look(const struct msd_cli *cli, struct msd_span file,
					struct msd_inspect **ret, struct msd_diag *d);

#endif
