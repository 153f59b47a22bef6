#include "store/editions.h"

#include <stdlib.h>
#include <string.h>

/*
 * Happy path: a candidate is tried, comes up and is current, the one before it
 * previous; it proves itself. Failures: one that does not come up, does not hold, or is
 * cut short too often is bad, and what was good before serves.
 */

static struct msd_edition *take(struct msd_record *r, enum msd_ref ref)
{
	struct msd_edition *e = r->editions[ref];

	r->editions[ref] = NULL;
	return e;
}

/* @e takes the place of what is there, which is freed. */
static void put(struct msd_record *r, enum msd_ref ref, struct msd_edition *e)
{
	free(r->editions[ref]);
	r->editions[ref] = e;
}

/* The index of @digest among the bad ones, n_bad when it is none. */
static uint32_t find_bad(const struct msd_record *r, const struct msd_digest *digest)
{
	uint32_t i = 0;

	while (i < r->n_bad && !msd_digest_equal(&r->bad[i], digest))
		i++;
	return i;
}

static void remove_bad(struct msd_record *r, uint32_t i)
{
	r->n_bad--;
	memmove(&r->bad[i], &r->bad[i + 1], (r->n_bad - i) * sizeof(r->bad[0]));
}

bool msd_record_is_bad(const struct msd_record *r, const struct msd_digest *digest)
{
	return find_bad(r, digest) < r->n_bad;
}

static void add_bad(struct msd_record *r, const struct msd_digest *digest)
{
	if (msd_record_is_bad(r, digest))
		return;
	if (r->n_bad == MSD_RECORD_BAD)
		remove_bad(r, 0);
	r->bad[r->n_bad++] = *digest;
}

void msd_record_try(struct msd_record *r, struct msd_edition *e)
{
	uint32_t i = find_bad(r, &e->digest);

	if (i < r->n_bad)
		remove_bad(r, i);
	e->attempts = 1; /* the load that follows */
	put(r, MSD_REF_CANDIDATE, e);
}

msd_err msd_record_again(struct msd_record *r, enum msd_ref ref, struct msd_diag *d)
{
	struct msd_edition *e;

	if (r->editions[ref] == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND, "the store has no %s one",
				    msd_ref_word(ref));
	}
	e = malloc(sizeof(*e));
	if (e == NULL)
		return msd_diag_no_memory(d);
	*e = *r->editions[ref]; /* which stays until its copy has come up */
	msd_record_try(r, e);
	return MSD_OK;
}

msd_err msd_record_back(struct msd_record *r, struct msd_diag *d)
{
	msd_err err = msd_record_again(r, MSD_REF_PREVIOUS, d);

	if (err == MSD_OK && r->editions[MSD_REF_CURRENT] != NULL)
		add_bad(r, &r->editions[MSD_REF_CURRENT]->digest);
	return err;
}

/* What serves is not bad, whoever wanted to leave it. */
static void forgive_current(struct msd_record *r)
{
	const struct msd_edition *e = r->editions[MSD_REF_CURRENT];
	const uint32_t i = e != NULL ? find_bad(r, &e->digest) : r->n_bad;

	if (i < r->n_bad)
		remove_bad(r, i);
}

/* To one that is not bad itself: the two are never both. */
static bool has_way_back(const struct msd_record *r)
{
	const struct msd_edition *e = r->editions[MSD_REF_PREVIOUS];

	return e != NULL && !msd_record_is_bad(r, &e->digest);
}

void msd_record_good(struct msd_record *r)
{
	struct msd_edition *e = take(r, MSD_REF_CANDIDATE);
	struct msd_edition *old = r->editions[MSD_REF_CURRENT];

	if (e == NULL)
		return;
	if (old != NULL)
		old->attempts = 0;
	/* The same bytes with other options are no edition that one goes back to. */
	if (old != NULL && !msd_digest_equal(&old->digest, &e->digest))
		put(r, MSD_REF_PREVIOUS, take(r, MSD_REF_CURRENT));
	e->attempts = has_way_back(r) ? 1 : 0;
	put(r, MSD_REF_CURRENT, e);
	forgive_current(r); /* the same bytes may have failed with other options */
}

bool msd_record_is_watched(const struct msd_record *r)
{
	const struct msd_edition *e = r->editions[MSD_REF_CURRENT];

	return e != NULL && e->attempts > 0 && has_way_back(r);
}

void msd_record_proven(struct msd_record *r)
{
	if (r->editions[MSD_REF_CURRENT] != NULL)
		r->editions[MSD_REF_CURRENT]->attempts = 0;
}

void msd_record_ended(struct msd_record *r)
{
	if (msd_record_is_watched(r))
		r->editions[MSD_REF_CURRENT]->attempts = 1;
}

msd_err msd_record_return(struct msd_record *r, struct msd_diag *d)
{
	if (!msd_record_is_watched(r))
		return msd_diag_set(d, MSD_NOT_FOUND, "there is nothing to go back to");
	add_bad(r, &r->editions[MSD_REF_CURRENT]->digest);
	put(r, MSD_REF_CURRENT, take(r, MSD_REF_PREVIOUS));
	return MSD_OK;
}

void msd_record_failed(struct msd_record *r)
{
	struct msd_edition *e = take(r, MSD_REF_CANDIDATE);

	if (e == NULL)
		return;
	const struct msd_edition *current = r->editions[MSD_REF_CURRENT];
	const struct msd_edition *previous = r->editions[MSD_REF_PREVIOUS];
	/* With other options the same bytes are good: those are not what failed. */
	bool is_served =
		(current != NULL && msd_digest_equal(&current->digest, &e->digest)) ||
		(previous != NULL && msd_digest_equal(&previous->digest, &e->digest));
	if (!is_served)
		add_bad(r, &e->digest);
	free(e);
	forgive_current(r);
}

void msd_record_withdraw(struct msd_record *r)
{
	free(take(r, MSD_REF_CANDIDATE));
	forgive_current(r);
}

enum msd_ref msd_record_start(struct msd_record *r, bool *ret_try_candidate)
{
	struct msd_edition *e = r->editions[MSD_REF_CANDIDATE];

	*ret_try_candidate = e != NULL && e->attempts < MSD_EDITION_ATTEMPTS;
	if (*ret_try_candidate) {
		e->attempts++;
	} else {
		msd_record_failed(r);
	}
	e = r->editions[MSD_REF_CURRENT];
	if (msd_record_is_watched(r) && e->attempts++ >= MSD_EDITION_ATTEMPTS)
		(void)!msd_record_return(r, NULL);
	if (r->editions[MSD_REF_CURRENT] != NULL)
		return MSD_REF_CURRENT;
	return r->editions[MSD_REF_PREVIOUS] != NULL ? MSD_REF_PREVIOUS : MSD_REF_COUNT;
}

uint64_t msd_record_spare(struct msd_record *r)
{
	const struct msd_edition *e = r->editions[MSD_REF_PREVIOUS];
	uint64_t bytes = 0;

	if (e == NULL || r->is_pinned || r->editions[MSD_REF_CURRENT] == NULL ||
	    msd_record_is_watched(r))
		return 0;
	for (uint32_t i = 0; i < e->n_files; i++)
		bytes += e->files[i].bytes;
	put(r, MSD_REF_PREVIOUS, NULL);
	return bytes;
}
