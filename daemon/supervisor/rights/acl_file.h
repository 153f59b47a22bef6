#ifndef MSD_SUPERVISOR_ACL_FILE_H
#define MSD_SUPERVISOR_ACL_FILE_H
/* Reads the ACL file from the disk. acl_read.h parses it. */
#include "daemon/supervisor/rights/acl.h"
#include "proto/base/diag.h"

/**
 * Read the file at @path. Errors: those of msd_acl_parse(); MSD_IO; MSD_REFUSED (it
 * is writable for all users, or not a regular file).
 */
MSD_MUST_CHECK msd_err msd_acl_read(const char *path, struct msd_acl **ret,
				    struct msd_diag *d);

#endif
