#ifndef MSD_SUPERVISOR_STORE_INDEX_H
#define MSD_SUPERVISOR_STORE_INDEX_H
/* The store's editions of a module, by digest: a source need not transfer these
 * again. */
#include "store/record.h"

struct msd_store_index {
	/* The bad editions, then the good ones. */
	struct msd_digest have[MSD_RECORD_BAD + MSD_REF_COUNT];
	uint32_t n_have, n_bad;
	struct msd_digest editions[MSD_REF_COUNT];
	bool has_edition[MSD_REF_COUNT];
	struct msd_digest names[MSD_REF_COUNT]; /* names in a registry */
	bool has_name[MSD_REF_COUNT];
};

/** Fill @s from the record @r. */
void msd_store_index_set(struct msd_store_index *s, const struct msd_record *r);
/** Forget the good editions, because they are not usable; keep the bad ones. */
void msd_store_index_forget_editions(struct msd_store_index *s);
bool msd_store_index_is_bad(const struct msd_store_index *s,
			    const struct msd_digest *digest);
bool msd_store_index_is_edition(const struct msd_store_index *s, enum msd_ref ref,
				const struct msd_digest *digest);

/** The edition that a registry knows as @name; MSD_REF_COUNT: not found. */
enum msd_ref msd_store_index_find_name(const struct msd_store_index *s,
				       const struct msd_digest *name);

#endif
