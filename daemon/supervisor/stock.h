#ifndef MSD_SUPERVISOR_STOCK_H
#define MSD_SUPERVISOR_STOCK_H
/* What the store has of a module, by digest: what a source need not bring again. */
#include "store/record.h"

struct msd_stock {
	/* The bad ones, then the editions. */
	struct msd_digest have[MSD_RECORD_BAD + MSD_REF_COUNT];
	uint32_t n_have, n_bad;
	struct msd_digest editions[MSD_REF_COUNT];
	bool has_edition[MSD_REF_COUNT];
	struct msd_digest names[MSD_REF_COUNT]; /* by which a registry was asked */
	bool has_name[MSD_REF_COUNT];
};

/** What @r says. */
void msd_stock_take(struct msd_stock *s, const struct msd_record *r);
/** It has no edition after all: what is bad stays. */
void msd_stock_forget_editions(struct msd_stock *s);
bool msd_stock_is_bad(const struct msd_stock *s, const struct msd_digest *digest);
bool msd_stock_is_edition(const struct msd_stock *s, enum msd_ref ref,
			  const struct msd_digest *digest);

/** Which edition a registry was asked for by @name; MSD_REF_COUNT: none. */
enum msd_ref msd_stock_find_name(const struct msd_stock *s,
				 const struct msd_digest *name);

#endif
