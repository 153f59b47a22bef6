#ifndef MSD_CLI_FILE_H
#define MSD_CLI_FILE_H
/* Reads and writes whole files; "-" is standard input or output. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_PATH_BYTES ((size_t)4096) /* a path with its NUL */

/** Join @dir and @name. Errors: MSD_BAD_REQUEST: the path is too long. */
MSD_MUST_CHECK msd_err msd_file_join(const char *dir, const char *name,
				     char path[static MSD_PATH_BYTES],
				     struct msd_diag *d);
/**
 * Read all of @path into @ret; the caller frees it with msd_buf_finish(). Errors:
 * MSD_NOT_FOUND (no such file), MSD_TOO_LARGE (a device without end), MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_file_read(const char *path, struct msd_buf *ret,
				     struct msd_diag *d);
/**
 * The same for the file @name of the folder @dir, where @name is untrusted. Paths
 * outside the folder (an absolute path, "..", a link) are rejected. Errors:
 * MSD_REFUSED and those above.
 */
MSD_MUST_CHECK msd_err msd_file_read_beneath(const char *dir, const char *name,
					     struct msd_buf *ret, struct msd_diag *d);
/** Replace the content of @path with @n chunks, in order. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_file_write(const char *path, const struct msd_span *pieces,
				      size_t n, struct msd_diag *d);

/**
 * Write @bytes to a new file and rename it to @path. Processes that have the old file
 * open or mapped keep it, and no process sees a partial new file. Errors: MSD_IO,
 * MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_file_replace(const char *path, struct msd_span bytes,
					struct msd_diag *d);

#endif
