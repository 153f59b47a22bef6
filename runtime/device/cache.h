#ifndef MSD_RUNTIME_DEVICE_CACHE_H
#define MSD_RUNTIME_DEVICE_CACHE_H
/*
 * What drivers made of code, kept on disk: the next load of the same code for the same
 * device and driver need not compile it. The folder is that of store/built.h, which
 * bounds it; without one nothing is kept.
 *
 * An entry is a file named by a hash of its key. It holds the key itself, so that equal
 * hashes do no harm, and a checksum: whatever is not exactly right is as if it were not
 * there. Files appear by rename, whole. A cache that cannot be written is no error.
 */
#include "proto/bytes.h"

#define MSD_CACHE_KEY_PARTS 8u
#define MSD_CACHE_MAX_BYTES ((size_t)256 * 1024 * 1024) /* of one entry */

/* What identifies an entry: all of it, e.g. source, device, driver, options. */
struct msd_cache_key {
	const char *kind; /* "opencl", "cuda": begins the file's name */
	struct msd_span parts[MSD_CACHE_KEY_PARTS];
	size_t n_parts;
};

/** The entry's bytes into @ret (empty before; finish it). False: there is none. */
MSD_MUST_CHECK bool msd_cache_get(const struct msd_cache_key *key, struct msd_buf *ret);
/** Keep @bytes, if that can be done. */
void msd_cache_put(const struct msd_cache_key *key, struct msd_span bytes);
/** Forget the entry: the driver did not take it. */
void msd_cache_drop(const struct msd_cache_key *key);

#endif
