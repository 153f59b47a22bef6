#include "daemon/supervisor/keep/keep.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/log.h"
#include "store/blob.h"
#include "store/editions.h"
#include "store/maintenance.h"

/*
 * The jobs that write records: keep a candidate with its bytes, record its result,
 * forget a module. Happy path of a candidate: its parts are hashed, and the hash
 * names the edition. Then the parts are written to the store, and a record that names
 * them replaces the old record. Failures: the old record stays, and files without a
 * record are collected later.
 */

static struct msd_keep *keep_of(struct msd_keeper_job *job)
{
	return MSD_CONTAINER_OF(job, struct msd_keep, job);
}

void msd_keep_label(struct msd_keep *k, struct msd_span name, struct msd_span file)
{
	size_t n = 0;

	(void)snprintf(k->name, sizeof(k->name), "%.*s", (int)name.n,
		       (const char *)name.p);
	for (size_t i = 0; i < file.n; i++) {
		uint8_t c = file.p[i];

		if (c == '/') {
			n = 0; /* the last path component is the name */
		} else if (c >= ' ' && c != 0x7f && n < sizeof(k->file) - 1) {
			k->file[n++] = (char)c;
		}
	}
	k->file[n] = '\0';
	if (n == 0)
		(void)snprintf(k->file, sizeof(k->file), "artifact");
}

/* Load the record, or an empty one if it does not exist. A damaged record is
 * replaced: its editions are lost anyway, and the user asked to keep a new one. */
static msd_err load_record(const struct msd_keep *k, const struct msd_store *s,
			   struct msd_record *ret, struct msd_diag *d)
{
	msd_err err = msd_record_load(s, k->name, ret, d);

	if (err != MSD_NOT_FOUND && err != MSD_BAD_ARTIFACT)
		return err;
	msd_diag_finish(d);
	*ret = (struct msd_record){0};
	return MSD_OK;
}

static msd_err hash_parts(struct msd_keep *k, struct msd_diag *d)
{
	static const enum msd_role roles[MSD_KEEP_PARTS] = {
		MSD_ROLE_LIBRARY, MSD_ROLE_GRAPH, MSD_ROLE_PARAMS};
	struct msd_span name = msd_span_of(k->file);
	msd_err err = MSD_OK;
	uint64_t at = 0;

	for (size_t i = 0; err == MSD_OK && i < MSD_KEEP_PARTS; i++) {
		struct msd_digest digest;

		if (k->part_bytes[i] == 0)
			continue;
		err = msd_blob_hash(k->fd, at, k->part_bytes[i], &digest, d);
		if (err == MSD_OK) {
			err = msd_edition_add_file(k->edition, roles[i],
						   k->part_bytes[i], &digest, name, d);
		}
		at += k->part_bytes[i];
	}
	return err;
}

/* Other files are not part of the edition's digest: a client without a manifest may
 * load the same bytes with other tests. */
static msd_err hash_papers(struct msd_keep *k, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (unsigned i = 0; err == MSD_OK && i < MSD_PAPERS; i++) {
		const struct msd_attachment *paper = &k->papers[i];
		const enum msd_role role = MSD_ROLE_TEST + i;
		struct msd_digest digest;

		if (paper->bytes == 0)
			continue;
		err = msd_blob_hash(paper->fd, 0, paper->bytes, &digest, d);
		if (err == MSD_OK) {
			err = msd_edition_add_file(k->edition, role, paper->bytes,
						   &digest,
						   msd_span_of(msd_role_word(role)), d);
		}
	}
	return err;
}

/* A single file gives its digest; several files give the digest of their concatenated
 * digests. */
static void name_edition(struct msd_edition *e)
{
	struct sha256_ctx hash;

	e->digest = e->files[0].digest;
	if (e->n_files == 1)
		return;
	sha256_init(&hash);
	for (uint32_t i = 0; i < e->n_files; i++)
		sha256_update(&hash, MSD_DIGEST_BYTES, e->files[i].digest.b);
	sha256_digest(&hash, MSD_DIGEST_BYTES, e->digest.b);
}

/* Bytes of the edition's files that the store does not have. */
static uint64_t missing_bytes(const struct msd_store *s, const struct msd_edition *e)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < e->n_files; i++) {
		if (!msd_blob_exists(s, &e->files[i].digest, e->files[i].bytes))
			bytes += e->files[i].bytes;
	}
	return bytes;
}

/* No record names the files yet, so a collection may remove existing files of this
 * edition. Then more room is needed: repeat. */
static msd_err make_room(const struct msd_edition *e, struct msd_keeper *keeper,
			 struct msd_diag *d)
{
	const uint64_t max_bytes = keeper->max_bytes;
	uint64_t wanted = missing_bytes(&keeper->store, e), made = 0;
	msd_err err = MSD_OK;

	while (err == MSD_OK && wanted > made) {
		made = wanted;
		err = msd_store_make_room(&keeper->store, made, max_bytes, d);
		wanted = missing_bytes(&keeper->store, e);
	}
	return err;
}

static msd_err put_parts(const struct msd_keep *k, struct msd_keeper *keeper,
			 struct msd_diag *d)
{
	const struct msd_edition *e = k->edition;
	msd_err err = make_room(e, keeper, d);
	uint64_t at = 0;

	for (uint32_t i = 0; err == MSD_OK && i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];
		const bool is_part = msd_role_is_loaded(f->role);
		const int fd = is_part ? k->fd : k->papers[f->role - MSD_ROLE_TEST].fd;

		err = msd_blob_put(&keeper->store, fd, is_part ? at : 0, &f->digest,
				   f->bytes, d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", keeper->store.path);
		at += f->bytes;
	}
	return err;
}

static uint64_t next_version(const struct msd_record *r)
{
	uint64_t version = 0;

	for (unsigned ref = 0; ref < MSD_REF_COUNT; ref++) {
		if (r->editions[ref] != NULL && r->editions[ref]->version > version)
			version = r->editions[ref]->version;
	}
	return version + 1;
}

static msd_err put_bytes(struct msd_keep *k, struct msd_keeper *keeper,
			 struct msd_diag *d)
{
	struct msd_edition *e = k->edition;
	msd_err err = hash_parts(k, d);

	if (err == MSD_OK && e->version == 0) /* no manifest set a version */
		name_edition(e);
	if (err == MSD_OK)
		err = hash_papers(k, d);
	return err == MSD_OK ? put_parts(k, keeper, d) : err;
}

/*
 * Write the bytes first, then the record that names them: jobs do not overlap, so no
 * collection runs in between. Making room may change the record, so load it
 * afterwards.
 */
static void write_candidate(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_keep *k = keep_of(job);
	struct msd_record r = {0};

	job->err = put_bytes(k, keeper, &job->d);
	if (job->err == MSD_OK)
		job->err = load_record(k, &keeper->store, &r, &job->d);
	if (job->err == MSD_OK) {
		if (k->edition->version == 0)
			k->edition->version = next_version(&r);
		k->kept_version = k->edition->version;
		k->kept_digest = k->edition->digest;
		msd_record_try(&r, k->edition);
		k->edition = NULL;
		job->err = msd_record_save(&keeper->store, k->name, &r, &job->d);
	}
	if (job->err != MSD_OK)
		job->err = msd_diag_wrap(&job->d, job->err, "keep %s", k->name);
	msd_record_finish(&r);
}

static void remove_record(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	const struct msd_keep *k = keep_of(job);

	job->err = msd_record_remove(&keeper->store, k->name, &job->d);
	if (job->err == MSD_NOT_FOUND) {
		msd_diag_finish(&job->d);
		job->err = MSD_OK;
	}
}

void msd_keep_candidate(struct msd_keeper *keeper, struct msd_keep *k,
			msd_keeper_call done)
{
	msd_keeper_submit(keeper, &k->job, write_candidate, done);
}

void msd_keep_forget(struct msd_keeper *keeper, struct msd_keep *k,
		     msd_keeper_call done)
{
	msd_keeper_submit(keeper, &k->job, remove_record, done);
}

/* The result of a candidate. */
struct verdict {
	struct msd_keep keep;
	enum msd_keep_verdict verdict;
	char why[MSD_RECORD_WHY]; /* of FAILED */
	struct msd_keep_after after;
	bool is_watched;
};

static void step(struct msd_record *r, const struct verdict *v)
{
	switch (v->verdict) {
	case MSD_KEEP_GOOD:
		msd_record_good(r);
		break;
	case MSD_KEEP_FAILED:
		msd_record_failed(r, v->why);
		break;
	case MSD_KEEP_WITHDRAWN:
		msd_record_withdraw(r);
		break;
	case MSD_KEEP_PROVEN:
		msd_record_proven(r);
		break;
	case MSD_KEEP_ENDED:
	case MSD_KEEP_FORGOTTEN:
	default:
		msd_record_ended(r);
	}
}

/* If the record lacks that edition, the verdict is not written. */
static enum msd_ref ref_of(enum msd_keep_verdict verdict)
{
	return verdict == MSD_KEEP_PROVEN || verdict == MSD_KEEP_ENDED
		       ? MSD_REF_CURRENT
		       : MSD_REF_CANDIDATE;
}

static void write_verdict(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct verdict *v = MSD_CONTAINER_OF(keep_of(job), struct verdict, keep);
	struct msd_record r;

	if (v->verdict == MSD_KEEP_FORGOTTEN) {
		remove_record(job, keeper);
		return;
	}
	job->err = msd_record_load(&keeper->store, v->keep.name, &r, &job->d);
	if (job->err != MSD_OK)
		return;
	if (r.editions[ref_of(v->verdict)] != NULL) {
		step(&r, v);
		job->err = msd_record_save(&keeper->store, v->keep.name, &r, &job->d);
	}
	v->is_watched = msd_record_is_watched(&r);
	msd_record_finish(&r);
}

/* If the write fails, the next start repeats it: the candidate is tried again. */
static void verdict_done(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	(void)keeper;
	struct verdict *v = MSD_CONTAINER_OF(keep_of(job), struct verdict, keep);

	if (job->err != MSD_OK && job->err != MSD_NOT_FOUND) {
		msd_log(MSD_LOG_WARN, "store_failed", "name=%s why=\"%s\"",
			v->keep.name, msd_diag_text(&job->d));
	}
	msd_diag_finish(&job->d);
	if (v->after.call != NULL)
		v->after.call(v->after.ctx, v->after.serial, v->is_watched);
	free(v);
}

void msd_keep_tried(struct msd_keeper *keeper, const char *name,
		    enum msd_keep_verdict verdict, const char *why,
		    const struct msd_keep_after *after)
{
	struct verdict *v = calloc(1, sizeof(*v));

	if (v == NULL) {
		msd_log(MSD_LOG_WARN, "store_failed", "name=%s why=\"out of memory\"",
			name);
		if (after != NULL)
			after->call(after->ctx, after->serial, false);
		return;
	}
	(void)snprintf(v->keep.name, sizeof(v->keep.name), "%s", name);
	v->verdict = verdict;
	(void)snprintf(v->why, sizeof(v->why), "%s", why != NULL ? why : "");
	if (after != NULL)
		v->after = *after;
	msd_keeper_submit(keeper, &v->keep.job, write_verdict, verdict_done);
}
