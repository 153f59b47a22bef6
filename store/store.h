#ifndef MSD_STORE_STORE_H
#define MSD_STORE_STORE_H
/*
 * A directory that keeps models across restarts and power failures. It has plain
 * files, and none is changed in place, so partial writes cannot damage it:
 *
 *   version           "modserd-store 1"; another layout has another text
 *   lock              held by the one process that writes
 *   sha256/ab/abcd…   blobs by their digest, read-only
 *   partial/abcd…     blobs that are being written; a later write resumes them
 *   arriving/abcd…    bytes of interrupted fetches; the next fetch resumes them
 *   modules/NAME      a module's record: the blobs of its editions (record.h)
 *
 * Every change is one rename, after its data is on disk, followed by an fsync of the
 * directory. So after a crash at any point either the old or the new state exists.
 * Data that fsync failed to write is discarded, and never assumed to be written
 * later.
 *
 * All functions block. Threads may share a store for reading; only one may write.
 */
#include <stdbool.h>

#include "proto/base/diag.h"

enum msd_store_mode {
	MSD_STORE_READ, /* also while a writer runs; the directory must exist */
	MSD_STORE_WRITE /* created if missing; one process at a time */
};

struct msd_store {
	char *path; /* owned; for messages */
	/* Owned descriptors; -1 if none: a read-only store may lack arriving/. */
	int dir, blobs, partial, arriving, modules, lock;
	bool is_writer;
};

/**
 * Open the store in the directory @path; call msd_store_close() only after success.
 * After a crash, leftovers are hidden files, which the next write of that name
 * replaces, or partial files. Errors: MSD_NOT_FOUND (READ: no such directory),
 * MSD_BUSY (another process writes to it), MSD_UNSUPPORTED (another version),
 * MSD_BAD_ARTIFACT (a directory with other files), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_store_open(struct msd_store *s, const char *path,
				      enum msd_store_mode mode, struct msd_diag *d);
/** Check that the disk is writable: MSD_IO if it has become read-only. */
MSD_MUST_CHECK msd_err msd_store_check_disk(const struct msd_store *s,
					    struct msd_diag *d);
/**
 * Check that a writer could use the directory @path as its store; it may be missing.
 * A directory that this user may not enter is not checked. MSD_UNSUPPORTED,
 * MSD_BAD_ARTIFACT, MSD_IO, as by msd_store_open().
 */
MSD_MUST_CHECK msd_err msd_store_check(const char *path, struct msd_diag *d);
void msd_store_close(struct msd_store *s);

#endif
