#ifndef MSD_STORE_MAINTENANCE_H
#define MSD_STORE_MAINTENANCE_H
/*
 * Maintenance of a store: measure its use, collect unneeded files, find damaged ones.
 */
#include <stdint.h>

#include "store/store.h"

/* Space used by a store. */
struct msd_store_use {
	uint64_t n_blobs, blob_bytes;        /* total */
	uint64_t n_unneeded, unneeded_bytes; /* blobs without a record */
	uint64_t partial_bytes;              /* unfinished writes and fetches */
};

/** Measure the use. Errors: a record is damaged or unreadable, MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_store_measure(const struct msd_store *s,
					 struct msd_store_use *ret, struct msd_diag *d);
/**
 * Remove every blob that no record names, partial files, and unfinished fetches; @ret
 * reports the removed files. If a record is damaged, nothing is removed, because its
 * blobs are unknown. Errors: as measure.
 */
MSD_MUST_CHECK msd_err msd_store_collect(struct msd_store *s, struct msd_store_use *ret,
					 struct msd_diag *d);
/**
 * Ensure that @bytes more fit into the limit @max_bytes, and that the file system
 * keeps 1/20 of its space free. If not, unneeded files are removed, then previous
 * editions of modules that are not pinned (msd_record_spare()). The caller must
 * reload records that it loaded before. MSD_NO_SPACE names both numbers.
 */
MSD_MUST_CHECK msd_err msd_store_make_room(struct msd_store *s, uint64_t bytes,
					   uint64_t max_bytes, struct msd_diag *d);
/**
 * Read and hash every blob of the module @name's record. @each_fault is called with
 * the module and the fault, and the check continues. MSD_NOT_FOUND: no such module.
 */
MSD_MUST_CHECK msd_err
msd_store_verify(const struct msd_store *s, const char *name,
		 void (*each_fault)(void *ctx, const char *module, const char *text),
		 void *ctx, uint64_t *ret_n_blobs, struct msd_diag *d);

#endif
