#ifndef MSD_CLI_ACL_UPGRADE_H
#define MSD_CLI_ACL_UPGRADE_H
/* A file of rights by the older rules, written by those of today: a line without names
 * was for all of them, and no last line said that the file is whole. */
#include "proto/bytes.h"
#include "proto/diag.h"

/**
 * Append to @ret what @old, the text of @file, is by the rules of today, comments and
 * all, and to @told a line for each thing that was added. @ret is @old where nothing
 * was. Errors: MSD_BAD_REQUEST (the last line has no newline: it may be cut; a quote is
 * not closed; a byte is zero), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_acl_upgrade(const char *file, struct msd_span old,
				       struct msd_buf *ret, struct msd_buf *told,
				       struct msd_diag *d);

#endif
