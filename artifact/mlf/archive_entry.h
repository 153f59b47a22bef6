#ifndef MSD_ARTIFACT_ARCHIVE_ENTRY_H
#define MSD_ARTIFACT_ARCHIVE_ENTRY_H
/* One untrusted entry of an archive: its path and type are checked before its data is
 * read. */
#include "proto/base/diag.h"

struct archive_entry;

/** Its path, without TVM's leading "./"; owned by the entry. NULL: no readable path. */
const char *msd_archive_entry_path(struct archive_entry *entry);
/**
 * Errors: MSD_BAD_ARTIFACT: missing, too long, with control characters, or outside
 * the archive.
 */
MSD_MUST_CHECK msd_err msd_archive_entry_check_path(struct archive_entry *entry,
						    struct msd_diag *d);
/**
 * Errors: MSD_BAD_ARTIFACT: neither a plain file nor a directory. The path must be
 * checked before.
 */
MSD_MUST_CHECK msd_err msd_archive_entry_check_type(struct archive_entry *entry,
						    struct msd_diag *d);

#endif
