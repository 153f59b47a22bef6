#ifndef MSD_SUPERVISOR_ACL_READ_H
#define MSD_SUPERVISOR_ACL_READ_H
/*
 * The file of rights, as text: a line is `user NAME` or `group NAME`, then credentials
 * (uid=1000), rights (+@call, -@admin) and names (resnet18/x*), in any order but that
 * of the rights, which are taken from left to right. Each line has names, and the last
 * line of the file is `end`, so that no part of a file passes for a whole one. `#`
 * begins a comment; in double quotes a space is part of a word. What it may hold is
 * bounded: docs/bounds.md.
 */
#include "daemon/supervisor/rights/acl.h"
#include "proto/diag.h"

#define MSD_ACL_FILE_MAX (1u << 20) /* bytes */
#define MSD_ACL_USERS_MAX 1024u
#define MSD_ACL_CREDENTIALS_MAX 4096u /* of all lines */
#define MSD_ACL_NAMES_MAX 64u         /* of a line */

/**
 * Read @text, called @file in what is said of it. Errors: MSD_BAD_REQUEST, which begins
 * with "FILE:LINE: "; MSD_NOMEM. Then *@ret is unchanged.
 */
MSD_MUST_CHECK msd_err msd_acl_parse(const char *file, struct msd_span text,
				     struct msd_acl **ret, struct msd_diag *d);

#endif
