#include "store/editions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Happy path: a candidate starts and becomes current, and the old current edition
 * becomes previous; later the new one is proven. Failures: an edition that does not
 * start, fails while it is watched, or is interrupted too often is bad; the last good
 * edition serves.
 */

static struct msd_edition *take(struct msd_record *r, enum msd_ref ref)
{
	struct msd_edition *e = r->editions[ref];

	r->editions[ref] = NULL;
	return e;
}

/* Store @e in the slot and free the old edition. */
static void put(struct msd_record *r, enum msd_ref ref, struct msd_edition *e)
{
	free(r->editions[ref]);
	r->editions[ref] = e;
}

/* Index of @digest in the bad list; n_bad if absent. */
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

static const char cut_short[] =
	"each attempt to start it was cut short by an end of the daemon or the machine";

static void note_failure(struct msd_record *r, const struct msd_edition *e,
			 const char *why)
{
	struct msd_failure *f = &r->failure;

	f->version = e->version;
	f->digest = e->digest;
	(void)snprintf(f->why, sizeof(f->why), "%s", why);
	for (char *c = f->why; *c != '\0'; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' '; /* must fit on one line */
	}
}

void msd_record_try(struct msd_record *r, struct msd_edition *e)
{
	uint32_t i = find_bad(r, &e->digest);

	if (i < r->n_bad)
		remove_bad(r, i);
	e->attempts = 1; /* counts the load that follows */
	put(r, MSD_REF_CANDIDATE, e);
}

msd_err msd_record_copy(struct msd_record *r, const struct msd_record *from,
			enum msd_ref ref, struct msd_diag *d)
{
	struct msd_edition *e;

	if (from->editions[ref] == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND, "the store has no %s one",
				    msd_ref_word(ref));
	}
	e = malloc(sizeof(*e));
	if (e == NULL)
		return msd_diag_no_memory(d);
	*e = *from->editions[ref]; /* the original stays until its copy has started */
	msd_record_try(r, e);
	return MSD_OK;
}

msd_err msd_record_again(struct msd_record *r, enum msd_ref ref, struct msd_diag *d)
{
	return msd_record_copy(r, r, ref, d);
}

msd_err msd_record_back(struct msd_record *r, struct msd_diag *d)
{
	msd_err err = msd_record_again(r, MSD_REF_PREVIOUS, d);

	if (err == MSD_OK && r->editions[MSD_REF_CURRENT] != NULL)
		add_bad(r, &r->editions[MSD_REF_CURRENT]->digest);
	return err;
}

/* The current edition is not bad, even if an operator tried to leave it. */
static void forgive_current(struct msd_record *r)
{
	const struct msd_edition *e = r->editions[MSD_REF_CURRENT];
	const uint32_t i = e != NULL ? find_bad(r, &e->digest) : r->n_bad;

	if (i < r->n_bad)
		remove_bad(r, i);
}

/*
 * Requires a previous edition that is not bad: never roll back and forth between two.
 */
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
	/* The same bytes with other options are not a rollback target. */
	if (old != NULL && !msd_digest_equal(&old->digest, &e->digest))
		put(r, MSD_REF_PREVIOUS, take(r, MSD_REF_CURRENT));
	e->attempts = has_way_back(r) ? 1 : 0;
	put(r, MSD_REF_CURRENT, e);
	r->failure = (struct msd_failure){0};
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

msd_err msd_record_return(struct msd_record *r, const char *why, struct msd_diag *d)
{
	if (!msd_record_is_watched(r))
		return msd_diag_set(d, MSD_NOT_FOUND, "there is nothing to go back to");
	add_bad(r, &r->editions[MSD_REF_CURRENT]->digest);
	note_failure(r, r->editions[MSD_REF_CURRENT], why);
	put(r, MSD_REF_CURRENT, take(r, MSD_REF_PREVIOUS));
	return MSD_OK;
}

/* The candidate must exist. */
static void drop_candidate(struct msd_record *r)
{
	struct msd_edition *e = take(r, MSD_REF_CANDIDATE);
	const struct msd_edition *current = r->editions[MSD_REF_CURRENT];
	const struct msd_edition *previous = r->editions[MSD_REF_PREVIOUS];
	/* If the same bytes serve with other options, the options failed, not the
	 * bytes. */
	bool is_served =
		(current != NULL && msd_digest_equal(&current->digest, &e->digest)) ||
		(previous != NULL && msd_digest_equal(&previous->digest, &e->digest));
	if (!is_served)
		add_bad(r, &e->digest);
	free(e);
	forgive_current(r);
}

void msd_record_failed(struct msd_record *r, const char *why)
{
	if (r->editions[MSD_REF_CANDIDATE] == NULL)
		return;
	if (r->editions[MSD_REF_CURRENT] != NULL)
		note_failure(r, r->editions[MSD_REF_CANDIDATE], why);
	drop_candidate(r);
}

void msd_record_withdraw(struct msd_record *r)
{
	free(take(r, MSD_REF_CANDIDATE));
	forgive_current(r);
}

/* True if the candidate, which must exist, gets one more attempt. */
static bool try_again(struct msd_record *r)
{
	struct msd_edition *e = r->editions[MSD_REF_CANDIDATE];

	if (e->attempts < MSD_EDITION_ATTEMPTS) {
		e->attempts++;
		return true;
	}
	note_failure(r, e, cut_short);
	drop_candidate(r);
	return false;
}

/* True if the watched edition has used its last attempt. */
static bool give_up_watched(struct msd_record *r)
{
	return msd_record_is_watched(r) &&
	       r->editions[MSD_REF_CURRENT]->attempts++ >= MSD_EDITION_ATTEMPTS &&
	       msd_record_return(r, cut_short, NULL) == MSD_OK;
}

struct msd_record_begun msd_record_start(struct msd_record *r)
{
	struct msd_record_begun begun = {.ref = MSD_REF_COUNT};

	if (r->editions[MSD_REF_CANDIDATE] != NULL) {
		begun.try_candidate = try_again(r);
		begun.has_given_up = !begun.try_candidate;
	} else {
		begun.has_given_up = give_up_watched(r);
	}
	if (r->editions[MSD_REF_CURRENT] != NULL) {
		begun.ref = MSD_REF_CURRENT;
	} else if (r->editions[MSD_REF_PREVIOUS] != NULL) {
		begun.ref = MSD_REF_PREVIOUS;
	}
	return begun;
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
