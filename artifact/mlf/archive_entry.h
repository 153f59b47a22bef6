#ifndef MSD_ARTIFACT_ARCHIVE_ENTRY_H
#define MSD_ARTIFACT_ARCHIVE_ENTRY_H
/* One entry of an archive, of which nothing is believed: where it may lie and what it
 * may be is looked at before a byte of its data is taken. */
#include "proto/diag.h"

struct archive_entry;

/** Its path, without the "./" in front that TVM writes; the entry's. NULL: it has none
 * that can be read. */
const char *msd_archive_entry_path(struct archive_entry *entry);
/** Errors: MSD_BAD_ARTIFACT: none, too long, with control characters, or out of the
 * archive. */
MSD_MUST_CHECK msd_err msd_archive_entry_check_path(struct archive_entry *entry,
						    struct msd_diag *d);
/** Errors: MSD_BAD_ARTIFACT: it is neither a plain file nor a folder. Its path was
 * checked. */
MSD_MUST_CHECK msd_err msd_archive_entry_check_type(struct archive_entry *entry,
						    struct msd_diag *d);

#endif
