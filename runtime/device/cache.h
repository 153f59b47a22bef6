#ifndef MSD_RUNTIME_DEVICE_CACHE_H
#define MSD_RUNTIME_DEVICE_CACHE_H
/*
 * Disk cache of code that drivers have built: the next load of the same code for the
 * same device and driver need not compile it. The folder is that of
 * store/build_cache.h, which limits its size; without a folder nothing is cached.
 *
 * An entry is a file named by a hash of its key. It holds the key itself, so hash
 * collisions do no harm, and a checksum. An invalid entry counts as missing. Files
 * are renamed into place when complete. A cache that cannot be written is not an
 * error.
 */
#include "proto/base/bytes.h"

#define MSD_CACHE_KEY_PARTS 8u
#define MSD_CACHE_MAX_BYTES ((size_t)256 * 1024 * 1024) /* per entry */

/* The complete identity of an entry, e.g. source, device, driver, options. */
struct msd_cache_key {
	const char *kind; /* "opencl", "cuda": prefix of the file name */
	struct msd_span parts[MSD_CACHE_KEY_PARTS];
	size_t n_parts;
};

/**
 * Append the entry's bytes to @ret (empty before; finish it). False if there is no
 * entry.
 */
MSD_MUST_CHECK bool msd_cache_get(const struct msd_cache_key *key, struct msd_buf *ret);
/** Store @bytes if possible. */
void msd_cache_put(const struct msd_cache_key *key, struct msd_span bytes);
/** Remove the entry because the driver rejected it. */
void msd_cache_drop(const struct msd_cache_key *key);

#endif
