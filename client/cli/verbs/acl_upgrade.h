#ifndef MSD_CLI_ACL_UPGRADE_H
#define MSD_CLI_ACL_UPGRADE_H
/*
 * Converts an ACL file of the older format to the current one. In the older format, a
 * line without names applied to all of them, and no last line marked the file as
 * complete.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Append to @ret the text @old of @file in the current format, comments included, and
 * to @told a line for each addition. @ret equals @old if nothing was added. Errors:
 * MSD_BAD_REQUEST (the last line has no newline, so it may be cut; a quote is not
 * closed; a byte is zero), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_acl_upgrade(const char *file, struct msd_span old,
				       struct msd_buf *ret, struct msd_buf *told,
				       struct msd_diag *d);

#endif
