#ifndef MSD_CLI_FILE_H
#define MSD_CLI_FILE_H
/* Whole files, and standard input and output, named "-". */
#include "proto/bytes.h"
#include "proto/diag.h"

#define MSD_PATH_BYTES ((size_t)4096) /* of a path, with its NUL */

/** The path of @name as seen from @dir. Errors: MSD_BAD_REQUEST: it is too long. */
MSD_MUST_CHECK msd_err msd_file_join(const char *dir, const char *name,
				     char path[static MSD_PATH_BYTES],
				     struct msd_diag *d);
/** Read all of @path into @ret, to be freed with msd_buf_finish(). Errors:
 * MSD_NOT_FOUND (no such file), MSD_TOO_LARGE (a device that goes on and on), MSD_IO,
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_file_read(const char *path, struct msd_buf *ret,
				     struct msd_diag *d);
/**
 * The same for the file @name of the folder @dir, where a stranger chose the name: what
 * is not beneath the folder (an absolute path, "..", a link) is refused by that name.
 * Errors: MSD_REFUSED and those above.
 */
MSD_MUST_CHECK msd_err msd_file_read_beneath(const char *dir, const char *name,
					     struct msd_buf *ret, struct msd_diag *d);
/** Write @n pieces, one after the other, as all that @path holds. Errors: MSD_IO. */
MSD_MUST_CHECK msd_err msd_file_write(const char *path, const struct msd_span *pieces,
				      size_t n, struct msd_diag *d);

/** Write @bytes as a new file that takes @path's place: who has the old one open or
 * mapped keeps it, and nobody sees half of the new one. Errors: MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_file_replace(const char *path, struct msd_span bytes,
					struct msd_diag *d);

#endif
