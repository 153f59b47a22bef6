#ifndef MSD_STORE_BUILT_H
#define MSD_STORE_BUILT_H
/*
 * The folder in which workers keep what drivers and compilers made of device code:
 * $MODSERD_CACHE, else modserd/ in $XDG_CACHE_HOME or $HOME/.cache; nowhere without any
 * of them. Entries are files of one user, which come and go while others look: whatever
 * is missing is as if it had never been there. The time of a file is that of its last
 * use, and the least recently used ones go first.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "proto/diag.h"

#define MSD_BUILT_LIMIT_BYTES ((uint64_t)2 << 30) /* $MODSERD_CACHE_LIMIT: another */
#define MSD_BUILT_SUFFIX ".bin"
#define MSD_BUILT_NAME_MAX 64u

struct msd_built {
	char name[MSD_BUILT_NAME_MAX]; /* KIND-HASH.bin */
	uint64_t bytes;
	struct timespec used;
};

/** Where entries are; false: nowhere. */
bool msd_built_folder(char ret[static PATH_MAX]);
/** What all entries may take together. */
uint64_t msd_built_limit(void);
/**
 * The entries of @folder, the last used first, to be freed; none where there is no such
 * folder. MSD_NOMEM, or MSD_IO: it cannot be read.
 */
MSD_MUST_CHECK msd_err msd_built_list(const char *folder, struct msd_built **ret,
				      size_t *ret_n, struct msd_diag *d);
/**
 * Remove entries that were not used for longest until at most @limit bytes are left,
 * with what writers that died have left behind. *@ret_removed, *@ret_left: bytes.
 */
MSD_MUST_CHECK msd_err msd_built_prune(const char *folder, uint64_t limit,
				       uint64_t *ret_removed, uint64_t *ret_left,
				       struct msd_diag *d);

#endif
