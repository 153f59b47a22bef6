#ifndef MSD_STORE_BUILD_CACHE_H
#define MSD_STORE_BUILD_CACHE_H
/*
 * The directory with the results of drivers and compilers for device code, shared by
 * workers: $MODSERD_CACHE, else modserd/ in $XDG_CACHE_HOME or $HOME/.cache; none if
 * these are unset. Entries are files of one user, which other processes may add or
 * remove at any time. A missing file counts as never cached. A file's time is its
 * last use; the least recently used files are evicted first.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "proto/base/diag.h"

#define MSD_BUILD_CACHE_LIMIT_BYTES ((uint64_t)2 << 30) /* or $MODSERD_CACHE_LIMIT */
#define MSD_BUILD_CACHE_SUFFIX ".bin"
#define MSD_BUILD_CACHE_NAME_MAX 64u

struct msd_build_cache {
	char name[MSD_BUILD_CACHE_NAME_MAX]; /* KIND-HASH.bin */
	uint64_t bytes;
	struct timespec used;
};

/** The directory; false if there is none. */
bool msd_build_cache_folder(char ret[static PATH_MAX]);
/** Limit for the total size. */
uint64_t msd_build_cache_limit(void);
/**
 * The entries of @folder, most recently used first; the caller frees the array. Empty
 * if the directory is missing. MSD_NOMEM, or MSD_IO if it cannot be read.
 */
MSD_MUST_CHECK msd_err msd_build_cache_list(const char *folder,
					    struct msd_build_cache **ret, size_t *ret_n,
					    struct msd_diag *d);
/**
 * Remove the least recently used entries until at most @limit bytes are left, and the
 * leftovers of crashed writers. *@ret_removed, *@ret_left: bytes.
 */
MSD_MUST_CHECK msd_err msd_build_cache_prune(const char *folder, uint64_t limit,
					     uint64_t *ret_removed, uint64_t *ret_left,
					     struct msd_diag *d);

#endif
