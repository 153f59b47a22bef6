#ifndef MSD_SUPERVISOR_EDITION_H
#define MSD_SUPERVISOR_EDITION_H
/* Read an edition from the store and load it. */
#include "daemon/supervisor/source/source.h"
#include "store/record.h"

struct msd_module_registry;
struct msd_stored_self_tests;
struct msd_load;
struct msd_module;
struct msd_preload;

struct msd_edition_how {
	bool is_candidate; /* the store records the result of its load */
	bool replace;      /* the old module serves until this one is READY */
	/* Use these options instead of the kept ones; NULL: use the kept ones. */
	const struct msd_load *options;
	const struct msd_stored_self_tests
		*trial; /* run before READY; NULL if absent */
};

/**
 * Find the bytes of @e that an earlier daemon left in memory (handover_artifact.h).
 * They are neither read nor hashed again. Returns false if there are no such bytes;
 * *ret is unchanged.
 */
bool msd_edition_find(struct msd_module_registry *registry, const struct msd_edition *e,
		      struct msd_source *ret);
/**
 * Read the files of @e into one sealed source, as an upload does. Blocks. Errors:
 * those of msd_blob_get(), MSD_TOO_LARGE, MSD_NO_SPACE.
 */
MSD_MUST_CHECK msd_err msd_edition_read(const struct msd_store *s,
					const struct msd_edition *e, uint64_t max_bytes,
					struct msd_source *ret, struct msd_diag *d);
/**
 * Parse the options kept with @e; they are borrowed from @e. Errors: MSD_BAD_REQUEST.
 */
MSD_MUST_CHECK msd_err msd_edition_keys(const struct msd_edition *e,
					struct msd_preload *ret, struct msd_diag *d);
/** Load @e from @source, which is taken. Errors: those of msd_module_load(). */
MSD_MUST_CHECK msd_err msd_edition_load(struct msd_module_registry *registry,
					const char *name, const struct msd_edition *e,
					struct msd_source *source,
					struct msd_edition_how how,
					struct msd_module **ret, struct msd_diag *d);

#endif
