#ifndef MSD_CLI_FOLDER_H
#define MSD_CLI_FOLDER_H
/* Reads folders: an unpacked archive as the archive, a SavedModel as its model, a
 * project of microTVM as the archive in it. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** True if @path is a folder. */
bool msd_folder_is(const char *path);
/**
 * Read the file @path, saved_model.pb or model.tar of the folder @path, or the files of
 * the folder
 * @path as a tar archive, into @ret. Errors: those of msd_file_read() and
 * msd_archive_write(); MSD_UNSUPPORTED: a link or a device in the folder;
 * MSD_BAD_ARTIFACT: a folder without metadata.json, model.tar and saved_model.pb.
 */
MSD_MUST_CHECK msd_err msd_folder_or_file_read(const char *path, struct msd_buf *ret,
					       struct msd_diag *d);

#endif
