#ifndef MSD_STORE_FLOORS_H
#define MSD_STORE_FLOORS_H
/*
 * Which versions have been signed, by module and key: none below is ever taken again,
 * whoever plays it back. A small text in the store's folder, "versions":
 *
 *   modserd-versions 1
 *   newest 1795341600              when the newest manifest was made, since the epoch
 *   digits 592F687DEA834DC1 7      module, key, version
 *
 * It outlives its modules: one that is unloaded and pulled again has not become older.
 */
#include "store/store.h"
#include "store/trust.h"

#define MSD_FLOORS 4096u /* of one store */

struct msd_floors {
	uint64_t newest_s;
	struct msd_floor_row *rows; /* owned */
	uint32_t n;
};

/** Read them; finish in every case. That there are none yet is fine. Errors:
 * MSD_BAD_ARTIFACT (naming the line), MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_floors_load(const struct msd_store *s,
				       struct msd_floors *ret, struct msd_diag *d);
/** Write them down. MSD_NO_SPACE, MSD_IO, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_floors_save(struct msd_store *s, const struct msd_floors *f,
				       struct msd_diag *d);
/** What the key has signed for the module @name; 0: nothing. */
uint64_t msd_floors_find(const struct msd_floors *f, const char *name,
			 const struct msd_key_id *id);
/** The key has signed @version, unless it was a higher one before. MSD_NO_SPACE (there
 * are MSD_FLOORS), MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_floors_raise(struct msd_floors *f, const char *name,
					const struct msd_key_id *id, uint64_t version,
					struct msd_diag *d);
void msd_floors_finish(struct msd_floors *f);

#endif
