#ifndef MSD_SUPERVISOR_ACL_FILE_H
#define MSD_SUPERVISOR_ACL_FILE_H
/* The file of rights on the disk; what is in it is acl_read.h's. */
#include "daemon/supervisor/rights/acl.h"
#include "proto/diag.h"

/** Read the file at @path. Errors: those of msd_acl_parse(); MSD_IO; MSD_REFUSED:
 * everybody may write to it, or it is no regular file. */
MSD_MUST_CHECK msd_err msd_acl_read(const char *path, struct msd_acl **ret,
				    struct msd_diag *d);

#endif
