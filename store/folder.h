#ifndef MSD_STORE_FOLDER_H
#define MSD_STORE_FOLDER_H
/* File operations in one directory, by descriptor: the store's disk access. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

/** Open the directory @name of @dir; create it if @may_make. */
MSD_MUST_CHECK msd_err msd_folder_open(int dir, const char *name, bool may_make,
				       int *ret, struct msd_diag *d);
/**
 * Open the file @name with the @flags of open(). It never blocks on other file types:
 * a user with write access may have created a FIFO. Errors: MSD_BAD_ARTIFACT (not a
 * regular file), those of msd_folder_fault().
 */
MSD_MUST_CHECK msd_err msd_folder_file(int folder, const char *name, int flags,
				       int *ret, struct msd_diag *d);
/** Make renames, links and removals in the directory durable. MSD_IO. */
MSD_MUST_CHECK msd_err msd_folder_sync(int folder, const char *name,
				       struct msd_diag *d);
/**
 * Read a small file of at most @max_bytes. Errors: those of msd_folder_file(),
 * MSD_TOO_LARGE, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_folder_read(int folder, const char *name, size_t max_bytes,
				       struct msd_buf *ret, struct msd_diag *d);
/**
 * Replace a small file durably: it is first written as ".NAME.new". After a failure
 * the old file remains. Errors: MSD_NO_SPACE, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_folder_replace(int folder, const char *name,
					  struct msd_span bytes, struct msd_diag *d);
/** Write all of @bytes at the current file offset. MSD_NO_SPACE, MSD_IO. */
MSD_MUST_CHECK msd_err msd_folder_write(int fd, struct msd_span bytes, const char *name,
					struct msd_diag *d);
/**
 * Set @d from errno and return the code: MSD_NO_SPACE (ENOSPC, EDQUOT),
 * MSD_NOT_FOUND, otherwise MSD_IO. The text is "NAME: what: reason".
 */
msd_err msd_folder_fault(const char *name, const char *what, struct msd_diag *d);
/**
 * Call @each for every name in @folder except hidden files, unordered, until it
 * fails.
 */
MSD_MUST_CHECK msd_err msd_folder_each(int folder, const char *name,
				       msd_err (*each)(void *ctx, const char *name,
						       struct msd_diag *d),
				       void *ctx, struct msd_diag *d);

#endif
