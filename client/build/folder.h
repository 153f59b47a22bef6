#ifndef MSD_CLI_FOLDER_H
#define MSD_CLI_FOLDER_H
/* Reads an unpacked archive, a folder, as the archive. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/**
 * Read the file @path, or the files of the folder @path as a tar archive, into @ret.
 * Errors: those of msd_file_read() and msd_archive_write(); MSD_UNSUPPORTED: a link
 * or a device in the folder; MSD_BAD_ARTIFACT: a folder without metadata.json.
 */
MSD_MUST_CHECK msd_err msd_folder_or_file_read(const char *path, struct msd_buf *ret,
					       struct msd_diag *d);

#endif
