#ifndef MSD_STORE_STORE_H
#define MSD_STORE_STORE_H
/*
 * A folder that keeps models over restarts and power cuts. Plain files; nothing in it
 * is changed in place, so there is nothing that could tear:
 *
 *   version           "modserd-store 1", so that a later layout is not taken for this
 *   lock              held by the one process that writes
 *   sha256/ab/abcd…   bytes by their digest, read-only
 *   partial/abcd…     bytes that are being written down; a later write goes on there
 *   arriving/abcd…    bytes of a fetch that was broken off; the next one goes on there
 *   modules/NAME      a module's record: which bytes it consists of (record.h)
 *
 * Every change is one rename, made after what it names is on the disk, and followed by
 * an fsync of its folder: after a crash at any point there is the old or the new. What
 * fsync could not write is thrown away, never taken for written later.
 *
 * All functions block; threads may share a store for reading, one alone may write.
 */
#include <stdbool.h>

#include "proto/diag.h"

enum msd_store_mode {
	MSD_STORE_READ, /* beside a writer, too; the folder must be there */
	MSD_STORE_WRITE /* made when it is not there; one process at a time */
};

struct msd_store {
	char *path; /* owned; for texts */
	/* Owned descriptors; -1 where none: a folder that is only read may lack
	 * arriving/.
	 */
	int dir, blobs, partial, arriving, modules, lock;
	bool is_writer;
};

/** Open the store in the folder @path; finish with msd_store_close(), on failure not.
 * What a crash left is a hidden file, which the next one of its name takes over, or a
 * partial one. Errors:
 * MSD_NOT_FOUND (READ: no such folder), MSD_BUSY (another process writes to it),
 * MSD_UNSUPPORTED (of another version), MSD_BAD_ARTIFACT (a folder with other things),
 * MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_store_open(struct msd_store *s, const char *path,
				      enum msd_store_mode mode, struct msd_diag *d);
/** Whether its disk takes anything: MSD_IO where it has become read-only. */
MSD_MUST_CHECK msd_err msd_store_check_disk(const struct msd_store *s,
					    struct msd_diag *d);
/** Whether a writer could take the folder @path for its store, which may be there or
 * not: one that this user may not enter is not looked at. MSD_UNSUPPORTED,
 * MSD_BAD_ARTIFACT, MSD_IO, as by msd_store_open(). */
MSD_MUST_CHECK msd_err msd_store_check(const char *path, struct msd_diag *d);
void msd_store_close(struct msd_store *s);

#endif
