#ifndef MSD_TESTS_EDITIONS_RIG_H
#define MSD_TESTS_EDITIONS_RIG_H
/* Editions of a module, told apart by a number. */
#include <stdbool.h>
#include <stdlib.h>

#include "store/editions.h"
#include "store/record.h"
#include "tests/store/shelf.h"

#define N 8
#define WHY "it died"

static inline struct msd_edition *edition(unsigned seed)
{
	return shelf_edition(seed, seed, N);
}

/* The seed of an edition, 0 where there is none. */
static inline unsigned seed_of(const struct msd_record *r, enum msd_ref ref)
{
	return r->editions[ref] != NULL ? (unsigned)r->editions[ref]->version : 0;
}

static inline bool is_bad(const struct msd_record *r, unsigned seed)
{
	struct msd_edition *e = edition(seed);
	bool found = msd_record_is_bad(r, &e->digest);

	free(e);
	return found;
}

/* What a start serves, or tries in its place. */
static inline enum msd_ref start(struct msd_record *r)
{
	const struct msd_record_begun begun = msd_record_start(r);

	return begun.try_candidate ? MSD_REF_CANDIDATE : begun.ref;
}

static inline void make_good(struct msd_record *r, unsigned seed)
{
	msd_record_try(r, edition(seed));
	msd_record_good(r);
}

#endif
