#ifndef MSD_CLI_REWRITE_H
#define MSD_CLI_REWRITE_H
/* A file of settings that a program changes as an editor would. */
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * Write @bytes in the place of the file at @path, which exists: its owner, group and
 * mode stay, a symbolic link to it stays, and whatever happens meanwhile, a power cut
 * too, the file is the old one or the new one. Errors: MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_rewrite(const char *path, struct msd_span bytes,
				   struct msd_diag *d);

#endif
