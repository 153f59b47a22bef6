#ifndef MSD_SUPERVISOR_ACL_READ_H
#define MSD_SUPERVISOR_ACL_READ_H
/*
 * Parses the ACL file. A line is `user NAME` or `group NAME`, then credentials
 * (uid=1000), rights (+@call, -@admin) and names (resnet18/x*). Only the order of
 * rights matters: they apply from left to right. Each line has names, and the last
 * line is `end`, so that a truncated file is detected. `#` begins a comment; double
 * quotes protect spaces. For limits see docs/internals/bounds.md.
 */
#include "daemon/supervisor/rights/acl.h"
#include "proto/base/diag.h"

#define MSD_ACL_FILE_MAX (1u << 20) /* bytes */
#define MSD_ACL_USERS_MAX 1024u
#define MSD_ACL_CREDENTIALS_MAX 4096u /* over all lines */
#define MSD_ACL_NAMES_MAX 64u         /* per line */

/**
 * Parse @text; error texts call it @file. Errors: MSD_BAD_REQUEST, whose text begins
 * with "FILE:LINE: "; MSD_NOMEM. On an error *@ret is unchanged.
 */
MSD_MUST_CHECK msd_err msd_acl_parse(const char *file, struct msd_span text,
				     struct msd_acl **ret, struct msd_diag *d);

#endif
