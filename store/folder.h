#ifndef MSD_STORE_FOLDER_H
#define MSD_STORE_FOLDER_H
/* Files of one folder, by descriptor: what the parts of a store do with the disk. */
#include "proto/bytes.h"
#include "proto/diag.h"

/** Open the folder @name of @dir, made first where @may_make. */
MSD_MUST_CHECK msd_err msd_folder_open(int dir, const char *name, bool may_make,
				       int *ret, struct msd_diag *d);
/** Open the file @name by the @flags of open(). What is none is never waited for: who
 * may write to the folder may have put a FIFO there. Errors: MSD_BAD_ARTIFACT (it is no
 * file), those of msd_folder_fault(). */
MSD_MUST_CHECK msd_err msd_folder_file(int folder, const char *name, int flags,
				       int *ret, struct msd_diag *d);
/** What was renamed, linked or removed in the folder is on the disk. MSD_IO. */
MSD_MUST_CHECK msd_err msd_folder_sync(int folder, const char *name,
				       struct msd_diag *d);
/** All of a small file, at most @max_bytes. Errors: those of msd_folder_file(),
 * MSD_TOO_LARGE, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_folder_read(int folder, const char *name, size_t max_bytes,
				       struct msd_buf *ret, struct msd_diag *d);
/** A small file in place of the one of that name, on the disk when this returns:
 * written as ".NAME.new" first. After a failure the old one stands. Errors:
 * MSD_NO_SPACE, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_folder_replace(int folder, const char *name,
					  struct msd_span bytes, struct msd_diag *d);
/** Write all of @bytes at the descriptor's place. MSD_NO_SPACE, MSD_IO. */
MSD_MUST_CHECK msd_err msd_folder_write(int fd, struct msd_span bytes, const char *name,
					struct msd_diag *d);
/** @d from errno: MSD_NO_SPACE (ENOSPC, EDQUOT), MSD_NOT_FOUND, else MSD_IO; and return
 * it. The text is "NAME: what: reason". */
msd_err msd_folder_fault(const char *name, const char *what, struct msd_diag *d);
/** Call @each for every name in @folder but those that begin with a dot, in no order,
 * until it fails. */
MSD_MUST_CHECK msd_err msd_folder_each(int folder, const char *name,
				       msd_err (*each)(void *ctx, const char *name,
						       struct msd_diag *d),
				       void *ctx, struct msd_diag *d);

#endif
