#include "daemon/supervisor/keep/chunk.h"

#include <stdlib.h>

#include "daemon/log.h"
#include "proto/value.h"
#include "store/blob.h"
#include "store/record.h"

static void put_file(struct msd_buf *b, const struct msd_edition_file *f)
{
	msd_pack_map(b, 4);
	msd_pack_pair_str(b, "role", msd_role_word(f->role));
	msd_pack_pair_str(b, "file", f->name);
	msd_pack_pair_uint(b, "bytes", f->bytes);
	msd_pack_cstr(b, "sha256");
	msd_pack_bin(b, f->digest.b, MSD_DIGEST_BYTES);
}

static msd_err tell(struct msd_store_chunk *p, const struct msd_edition *e,
		    struct msd_diag *d)
{
	struct msd_buf *b = &p->result;

	if (e == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "the store has no edition of %s that became ready",
				    p->name);
	}
	msd_pack_map(b, 2);
	msd_pack_pair_uint(b, "version", e->version);
	msd_pack_cstr(b, "files");
	msd_pack_array(b, e->n_files);
	for (uint32_t i = 0; i < e->n_files; i++)
		put_file(b, &e->files[i]);
	return MSD_OK;
}

/* A client that started to read an edition may finish when another edition has
 * replaced it. */
static bool has_file(const struct msd_record *r, const struct msd_digest *digest)
{
	static const enum msd_ref refs[] = {MSD_REF_CURRENT, MSD_REF_PREVIOUS};

	for (unsigned k = 0; k < sizeof(refs) / sizeof(refs[0]); k++) {
		const struct msd_edition *e = r->editions[refs[k]];

		for (uint32_t i = 0; e != NULL && i < e->n_files; i++) {
			if (msd_digest_equal(&e->files[i].digest, digest))
				return true;
		}
	}
	return false;
}

/* The client may be untrusted: do not show it the paths of this disk. */
static msd_err hide(const struct msd_store_chunk *p, msd_err err, struct msd_diag *d)
{
	if (err != MSD_NOT_FOUND) {
		msd_log(MSD_LOG_WARN, "store_read", "name=%s why=\"%s\"", p->name,
			msd_diag_text(d));
	}
	msd_diag_finish(d);
	*d = (struct msd_diag){0};
	return msd_diag_set(d, err,
			    err == MSD_NOT_FOUND
				    ? "the store has no module %s"
				    : "%s cannot be read: the daemon's log says why",
			    p->name);
}

static msd_err give(struct msd_store_chunk *p, const struct msd_store *s,
		    struct msd_diag *d)
{
	uint8_t *bytes = malloc(MSD_STORE_CHUNK_BYTES);
	size_t n = 0;
	msd_err err;

	if (bytes == NULL)
		return msd_diag_no_memory(d);
	const size_t most = p->bytes < MSD_STORE_CHUNK_BYTES ? (size_t)p->bytes
							     : MSD_STORE_CHUNK_BYTES;
	err = msd_blob_read(s, &p->digest, p->from, bytes, most, &n, d);
	if (err == MSD_OK) {
		msd_pack_bin(&p->result, bytes, n);
	} else {
		(void)hide(p, MSD_IO, d);
		err = MSD_IO;
	}
	free(bytes);
	return err;
}

static void work(struct msd_keeper_job *job, struct msd_keeper *keeper)
{
	struct msd_store_chunk *p = MSD_CONTAINER_OF(job, struct msd_store_chunk, job);
	struct msd_record r = {0};

	job->err = msd_record_load(&keeper->store, p->name, &r, &job->d);
	if (job->err != MSD_OK) {
		(void)hide(p, job->err, &job->d);
		return;
	}
	if (!p->is_of_file) {
		job->err = tell(p, r.editions[MSD_REF_CURRENT], &job->d);
	} else if (has_file(&r, &p->digest)) {
		job->err = give(p, &keeper->store, &job->d);
	} else {
		job->err = msd_diag_set(&job->d, MSD_NOT_FOUND,
					"no edition of %s in the store has that file",
					p->name);
	}
	if (job->err == MSD_OK && p->result.bad)
		job->err = msd_diag_no_memory(&job->d);
	msd_record_finish(&r);
}

void msd_store_chunk_read(struct msd_keeper *keeper, struct msd_store_chunk *p,
			  msd_keeper_call done)
{
	p->result = (struct msd_buf){0};
	msd_keeper_submit(keeper, &p->job, work, done);
}
