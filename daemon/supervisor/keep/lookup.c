/*
 * Happy path: the records are searched, the module's own record first, for an edition
 * with the manifest and complete files; else the file with the digest is read.
 * Failures: a damaged file, or a file that is kept with a module but never loaded,
 * counts as not found.
 */
#include "daemon/supervisor/keep/lookup.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/segments/reserve.h"
#include "daemon/supervisor/keep/attachment.h"
#include "store/blob.h"

static msd_err read_found(struct msd_store_lookup *look, const struct msd_store *s,
			  struct msd_diag *d)
{
	msd_err err;

	look->fd = msd_reserve_now("modserd-artifact", look->bytes);
	if (look->fd < 0)
		return msd_diag_set(d, MSD_NO_SPACE, "no memory to read it into");
	err = msd_blob_get(s, &look->digest, look->bytes, look->fd, d);
	if (err == MSD_OK && msd_reserve_seal(look->fd) != 0)
		err = msd_diag_set(d, MSD_IO, "it cannot be sealed");
	if (err != MSD_OK) {
		(void)close(look->fd);
		look->fd = -1;
	}
	return err;
}

static const struct msd_edition_file *find_paper(const struct msd_edition *e,
						 const struct msd_digest *digest)
{
	for (uint32_t i = 0; i < e->n_files; i++) {
		if (!msd_role_is_loaded(e->files[i].role) &&
		    msd_digest_equal(&e->files[i].digest, digest))
			return &e->files[i];
	}
	return NULL;
}

static bool is_whole(const struct msd_edition *e, const struct msd_store *s)
{
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < e->n_files; i++)
		err = msd_blob_check(s, &e->files[i].digest, e->files[i].bytes, &d);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

/* State of a search. */
struct search {
	struct msd_store_lookup *look;
	const struct msd_store *store;
	bool is_paper; /* it is kept with an edition, but is not loaded */
	bool has_file; /* an edition has it as a file */
};

static bool has_file(const struct msd_edition *e, const struct msd_digest *digest)
{
	for (uint32_t i = 0; i < e->n_files; i++) {
		if (msd_digest_equal(&e->files[i].digest, digest))
			return true;
	}
	return false;
}

static bool is_wanted(struct search *s, const struct msd_edition *e)
{
	const struct msd_digest *digest = &s->look->digest;
	const struct msd_edition_file *f = find_paper(e, digest);
	const bool is_manifest = f != NULL && f->role == MSD_ROLE_MANIFEST;

	if (s->look->is_name)
		return e->has_name && msd_digest_equal(&e->name, digest);
	s->is_paper = s->is_paper || f != NULL;
	s->look->is_manifest = s->look->is_manifest || is_manifest;
	return is_manifest ||
	       (s->look->is_signed && msd_digest_equal(&e->files[0].digest, digest));
}

/* Search the editions that became READY: a candidate is not tried twice at a time. */
static void search_record(struct search *s, const char *name,
			  const struct msd_record *r)
{
	static const enum msd_ref refs[] = {MSD_REF_CURRENT, MSD_REF_PREVIOUS,
					    MSD_REF_CANDIDATE};
	struct msd_store_lookup *look = s->look;

	for (unsigned i = 0; look->ref == MSD_REF_COUNT && i < MSD_REF_COUNT; i++) {
		const struct msd_edition *e = r->editions[refs[i]];

		s->has_file = s->has_file || (e != NULL && has_file(e, &look->digest));
		if (e == NULL || look->name == NULL || !is_wanted(s, e) ||
		    refs[i] == MSD_REF_CANDIDATE || !is_whole(e, s->store) ||
		    (look->is_signed &&
		     !msd_attachment_read_signature(s->store, e, &look->manifest,
						    &look->signature)))
			continue;
		look->ref = refs[i];
		look->edition = e->digest;
		(void)snprintf(look->from, sizeof(look->from), "%s", name);
	}
}

static bool may_have(const struct msd_store_lookup *look, const char *name)
{
	return look->may_have == NULL ||
	       (look->name != NULL && strcmp(look->name, name) == 0) ||
	       look->may_have(look->asker, name);
}

/* The code that needs a damaged record reports it later. */
static msd_err search_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct search *s = ctx;
	struct msd_record r;

	if (s->look->ref != MSD_REF_COUNT || !may_have(s->look, name))
		return MSD_OK;
	if (msd_record_load(s->store, name, &r, d) != MSD_OK) {
		msd_diag_finish(d);
		*d = (struct msd_diag){0};
		return MSD_OK;
	}
	search_record(s, name, &r);
	msd_record_finish(&r);
	return MSD_OK;
}

static msd_err find_edition(struct msd_store_lookup *look,
			    const struct msd_store *store, struct msd_diag *d)
{
	struct search s = {.look = look, .store = store};
	msd_err err = look->name != NULL ? search_module(&s, look->name, d) : MSD_OK;

	/* A signature is valid for one module only. */
	if (err == MSD_OK && !look->is_signed)
		err = msd_record_each(store, search_module, &s, d);
	if (err == MSD_OK && look->ref == MSD_REF_COUNT && look->may_have != NULL &&
	    !s.has_file)
		return msd_diag_set(d, MSD_NOT_FOUND, "it is not stored");
	if (err == MSD_OK && look->ref == MSD_REF_COUNT &&
	    (s.is_paper || look->is_signed || look->is_name))
		err = msd_diag_set(d, MSD_NOT_FOUND, "it is not stored as a file");
	return err;
}

static msd_err find_file(struct msd_store_lookup *look, const struct msd_store *s,
			 struct msd_diag *d)
{
	if (!msd_blob_find(s, &look->digest, &look->bytes) || look->bytes == 0)
		return msd_diag_set(d, MSD_NOT_FOUND, "it is not stored");
	if (look->bytes > look->max_bytes)
		return msd_diag_set(d, MSD_TOO_LARGE, "it is too large");
	return read_found(look, s, d);
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_store_lookup *look =
		MSD_CONTAINER_OF(job, struct msd_store_lookup, job);

	if (look->name != NULL || look->may_have != NULL)
		job->err = find_edition(look, &keeper->store, &job->d);
	if (job->err == MSD_OK && look->ref == MSD_REF_COUNT)
		job->err = find_file(look, &keeper->store, &job->d);
}

void msd_store_lookup(struct msd_keeper *keeper, struct msd_store_lookup *look,
		      msd_keeper_call done)
{
	look->fd = -1;
	look->ref = MSD_REF_COUNT;
	msd_keeper_submit(keeper, &look->job, work, done);
}
