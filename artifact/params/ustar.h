#ifndef MSD_ARTIFACT_PARAMS_USTAR_H
#define MSD_ARTIFACT_PARAMS_USTAR_H
/* An uncompressed tar archive (ustar) in memory: its files by name, in place. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_USTAR_FILES_MAX 65536u

struct msd_ustar_file {
	struct msd_span name, data; /* borrowed from the archive */
};

struct msd_ustar {
	struct msd_ustar_file *files; /* sorted by name, each name once */
	size_t n;
};

/** True if @bytes begins like an archive. */
bool msd_ustar_is(struct msd_span bytes);
/**
 * Read the directory of @archive, which must have its two empty blocks at the end. Only
 * regular files of the top folder are listed. The caller owns *@ret (finish it).
 * Errors: MSD_BAD_ARTIFACT, MSD_TOO_LARGE (too many files), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_ustar_read(struct msd_span archive, struct msd_ustar *ret,
				      struct msd_diag *d);
/** The file @name, or NULL. */
const struct msd_ustar_file *msd_ustar_find(const struct msd_ustar *a,
					    struct msd_span name);
void msd_ustar_finish(struct msd_ustar *a); /* NULL and zeroed are allowed */

#endif
