#ifndef MSD_STORE_CARE_H
#define MSD_STORE_CARE_H
/* Looking after a store: what its files are, what nobody needs any more, what is
 * broken. */
#include <stdint.h>

#include "store/store.h"

/* What a store holds. */
struct msd_store_use {
	uint64_t n_blobs, blob_bytes;        /* all */
	uint64_t n_unneeded, unneeded_bytes; /* of them, those that no record names */
	uint64_t partial_bytes; /* of what is being written, or was being fetched */
};

/** Count. Errors: a record that is damaged or cannot be read, MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_store_measure(const struct msd_store *s,
					 struct msd_store_use *ret, struct msd_diag *d);
/**
 * Remove every blob that no record names, partial files, and what was fetched of
 * others; @ret is what went. With a damaged record nothing is removed: what it named is
 * not known. Errors: as measure.
 */
MSD_MUST_CHECK msd_err msd_store_collect(struct msd_store *s, struct msd_store_use *ret,
					 struct msd_diag *d);
/**
 * Make sure that @bytes more fit under @max_bytes in all, and that the file system
 * keeps a twentieth of its room; when they do not, what nobody needs is removed, then
 * previous editions of modules that are not pinned (msd_record_spare()). A record that
 * was loaded before is to be loaded again. MSD_NO_SPACE names both numbers.
 */
MSD_MUST_CHECK msd_err msd_store_make_room(struct msd_store *s, uint64_t bytes,
					   uint64_t max_bytes, struct msd_diag *d);
/**
 * Read every blob that the record of the module @name names and hash it. @each_fault is
 * called with the module and what is wrong; it goes on. MSD_NOT_FOUND: no such module.
 */
MSD_MUST_CHECK msd_err
msd_store_verify(const struct msd_store *s, const char *name,
		 void (*each_fault)(void *ctx, const char *module, const char *text),
		 void *ctx, uint64_t *ret_n_blobs, struct msd_diag *d);

#endif
