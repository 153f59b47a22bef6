#ifndef MSD_CLI_REWRITE_H
#define MSD_CLI_REWRITE_H
/* Replaces a settings file as an editor does. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Replace the existing file at @path with @bytes. Owner, group, mode and a symbolic
 * link to it are kept. After any interruption, including a power failure, the file is
 * either the old one or the new one. Errors: MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rewrite(const char *path, struct msd_span bytes,
				   struct msd_diag *d);

#endif
