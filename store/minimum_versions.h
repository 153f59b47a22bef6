#ifndef MSD_STORE_MINIMUM_VERSIONS_H
#define MSD_STORE_MINIMUM_VERSIONS_H
/*
 * Minimum versions: the highest signed version by module and key. A lower version is
 * never accepted again, which prevents downgrade attacks. A small text file
 * "versions" in the store's directory:
 *
 *   modserd-versions 1
 *   newest 1795341600              creation time of the newest manifest, since the
 * epoch digits 592F687DEA834DC1 7      module, key, version
 *
 * Entries outlive their modules: unloading and pulling again does not reset the
 * minimum.
 */
#include "store/store.h"
#include "store/trust.h"

#define MSD_MINIMUM_VERSIONS 4096u /* per store */

struct msd_minimum_versions {
	uint64_t newest_s;
	struct msd_floor_row *rows; /* owned */
	uint32_t n;
};

/**
 * Load the table; finish in every case. A missing file is no error. Errors:
 * MSD_BAD_ARTIFACT (naming the line), MSD_IO, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_minimum_versions_load(const struct msd_store *s,
						 struct msd_minimum_versions *ret,
						 struct msd_diag *d);
/** Save the table. MSD_NO_SPACE, MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_minimum_versions_save(struct msd_store *s,
						 const struct msd_minimum_versions *f,
						 struct msd_diag *d);
/** Highest version that the key has signed for the module @name; 0 if none. */
uint64_t msd_minimum_versions_find(const struct msd_minimum_versions *f,
				   const char *name, const struct msd_key_id *id);
/**
 * Record that the key has signed @version; a lower version than before has no effect.
 * MSD_NO_SPACE (MSD_MINIMUM_VERSIONS entries exist), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_minimum_versions_raise(struct msd_minimum_versions *f,
						  const char *name,
						  const struct msd_key_id *id,
						  uint64_t version, struct msd_diag *d);
void msd_minimum_versions_finish(struct msd_minimum_versions *f);

#endif
