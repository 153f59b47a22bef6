#ifndef MSD_SUPERVISOR_EDITION_H
#define MSD_SUPERVISOR_EDITION_H
/* An edition that the store keeps, read and loaded again. */
#include "daemon/supervisor/source/source.h"
#include "store/record.h"

struct msd_house;
struct msd_kept_trial;
struct msd_load;
struct msd_module;
struct msd_preload;

struct msd_edition_how {
	bool is_candidate; /* how its load ends is told to the store */
	bool replace;      /* a module of the name stays until this one is READY */
	/* With these options instead of those that it was kept with; NULL: with those.
	 */
	const struct msd_load *options;
	const struct msd_kept_trial *trial; /* before it is READY; NULL: none */
};

/** The bytes of @e that an earlier daemon left in memory (warm_artifact.h), which are
 * neither read nor hashed again. False: it left none; *ret is unchanged. */
bool msd_edition_find(struct msd_house *house, const struct msd_edition *e,
		      struct msd_source *ret);
/** Its files as one sealed source, as an upload would have left them. Blocks. Errors:
 * those of msd_blob_get(), MSD_TOO_LARGE, MSD_NO_SPACE. */
MSD_MUST_CHECK msd_err msd_edition_read(const struct msd_store *s,
					const struct msd_edition *e, uint64_t max_bytes,
					struct msd_source *ret, struct msd_diag *d);
/** The options that it was kept with, borrowed from it. MSD_BAD_REQUEST. */
MSD_MUST_CHECK msd_err msd_edition_keys(const struct msd_edition *e,
					struct msd_preload *ret, struct msd_diag *d);
/** Load @e from @source, which is taken.
 * Errors: those of msd_module_load(). */
MSD_MUST_CHECK msd_err msd_edition_load(struct msd_house *house, const char *name,
					const struct msd_edition *e,
					struct msd_source *source,
					struct msd_edition_how how,
					struct msd_module **ret, struct msd_diag *d);

#endif
