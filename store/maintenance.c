#include "store/maintenance.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "proto/base/grow.h"
#include "store/blob.h"
#include "store/editions.h"
#include "store/folder.h"
#include "store/record.h"

/*
 * Happy path of a collection: all records are read, and their digests are sorted. The
 * walk over the blobs gathers those that are not in this list, and then removes them.
 * Failures: if one record is damaged, nothing is removed.
 *
 * If that does not free enough space, previous editions are removed one after the
 * other: current editions and candidates have priority over rollback targets.
 *
 * A candidate's bytes are written before its record. Until then they count as
 * unneeded, and a request for more room counts them again.
 */

#define RESERVE_PART 20 /* the file system keeps 1/20 of its room */

struct digests {
	struct msd_digest *p; /* owned */
	size_t n;
};

/* State of one count: first the blobs, then the partial files. */
struct count {
	const struct msd_store *store;
	struct digests needed;
	struct digests unneeded;
	struct digests dropped; /* partial files that no record needs */
	struct digests arrived; /* unfinished fetches */
	struct msd_store_use use;
};

static msd_err add(struct digests *all, const struct msd_digest *digest,
		   struct msd_diag *d)
{
	if (!msd_grow(&all->p, all->n, sizeof(*all->p)))
		return msd_diag_no_memory(d);
	all->p[all->n++] = *digest;
	return MSD_OK;
}

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct msd_digest));
}

static bool has(const struct digests *sorted, const struct msd_digest *digest)
{
	return sorted->n > 0 &&
	       bsearch(digest, sorted->p, sorted->n, sizeof(*digest), by_bytes) != NULL;
}

static msd_err need_files(void *ctx, const char *name, struct msd_diag *d)
{
	struct count *count = ctx;
	struct msd_record r = {0};
	msd_err err = msd_record_load(count->store, name, &r, d);

	for (unsigned ref = 0; err == MSD_OK && ref < MSD_REF_COUNT; ref++) {
		const struct msd_edition *e = r.editions[ref];

		for (uint32_t i = 0; err == MSD_OK && e != NULL && i < e->n_files; i++)
			err = add(&count->needed, &e->files[i].digest, d);
	}
	msd_record_finish(&r);
	return err;
}

static msd_err count_blob(void *ctx, const struct msd_digest *digest, uint64_t bytes,
			  struct msd_diag *d)
{
	struct count *count = ctx;

	count->use.n_blobs++;
	count->use.blob_bytes += bytes;
	if (has(&count->needed, digest))
		return MSD_OK;
	count->use.n_unneeded++;
	count->use.unneeded_bytes += bytes;
	return add(&count->unneeded, digest, d);
}

/* Count the file @name of @folder and parse its digest. False if the name is not a
 * digest, or the file is gone. */
static bool count_bytes(struct count *count, int folder, const char *name,
			struct msd_digest *ret)
{
	struct stat st;

	if (!msd_digest_parse(msd_span_of(name), ret) ||
	    fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	count->use.partial_bytes += (uint64_t)st.st_size;
	return true;
}

static msd_err count_partial(void *ctx, const char *name, struct msd_diag *d)
{
	struct count *count = ctx;
	struct msd_digest digest;

	if (!count_bytes(count, count->store->partial, name, &digest))
		return MSD_OK;
	return has(&count->needed, &digest) ? MSD_OK : add(&count->dropped, &digest, d);
}

static msd_err count_arrived(void *ctx, const char *name, struct msd_diag *d)
{
	struct count *count = ctx;
	struct msd_digest digest;

	return count_bytes(count, count->store->arriving, name, &digest)
		       ? add(&count->arrived, &digest, d)
		       : MSD_OK;
}

static msd_err count_all(struct count *count, struct msd_diag *d)
{
	const struct msd_store *s = count->store;
	msd_err err = msd_record_each(s, need_files, count, d);

	if (err == MSD_OK && count->needed.n > 0) {
		qsort(count->needed.p, count->needed.n, sizeof(*count->needed.p),
		      by_bytes);
	}
	if (err == MSD_OK)
		err = msd_blob_each(s, count_blob, count, d);
	if (err == MSD_OK)
		err = msd_folder_each(s->partial, "partial", count_partial, count, d);
	if (err == MSD_OK && s->arriving >= 0)
		err = msd_folder_each(s->arriving, "arriving", count_arrived, count, d);
	return err;
}

static void count_finish(struct count *count)
{
	free(count->needed.p);
	free(count->unneeded.p);
	free(count->dropped.p);
	free(count->arrived.p);
}

msd_err msd_store_measure(const struct msd_store *s, struct msd_store_use *ret,
			  struct msd_diag *d)
{
	struct count count = {.store = s};
	msd_err err = count_all(&count, d);

	if (err == MSD_OK)
		*ret = count.use;
	count_finish(&count);
	return err;
}

static msd_err drop(int folder, const struct digests *all, struct msd_diag *d)
{
	char name[MSD_DIGEST_TEXT];

	for (size_t i = 0; i < all->n; i++) {
		msd_digest_format(&all->p[i], name);
		if (unlinkat(folder, name, 0) != 0 && errno != ENOENT)
			return msd_folder_fault(name, "unlink", d);
	}
	return MSD_OK;
}

msd_err msd_store_collect(struct msd_store *s, struct msd_store_use *ret,
			  struct msd_diag *d)
{
	struct count count = {.store = s};
	msd_err err = count_all(&count, d);

	for (size_t i = 0; err == MSD_OK && i < count.unneeded.n; i++)
		err = msd_blob_remove(s, &count.unneeded.p[i], d);
	if (err == MSD_OK)
		err = drop(s->partial, &count.dropped, d);
	if (err == MSD_OK)
		err = drop(s->arriving, &count.arrived, d);
	if (err == MSD_OK)
		*ret = count.use;
	count_finish(&count);
	return err;
}

/* Check that @bytes more stay within both limits; @d names the limit that they
 * exceed. */
static msd_err check_room(const struct msd_store *s, const struct msd_store_use *use,
			  uint64_t bytes, uint64_t max_bytes, struct msd_diag *d)
{
	uint64_t used = use->blob_bytes + use->partial_bytes;
	struct statvfs disk;

	if (used > max_bytes || bytes > max_bytes - used) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"%s: %" PRIu64 " bytes more than the %" PRIu64
			" that are there would be over the store's limit of "
			"%" PRIu64,
			s->path, bytes, used, max_bytes);
	}
	if (fstatvfs(s->dir, &disk) != 0)
		return msd_folder_fault(s->path, "statvfs", d);
	uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
	uint64_t reserve = (uint64_t)disk.f_blocks * disk.f_frsize / RESERVE_PART;
	if (free_bytes < reserve || bytes > free_bytes - reserve) {
		return msd_diag_set(d, MSD_NO_SPACE,
				    "%s: %" PRIu64 " bytes do not fit: %" PRIu64
				    " are free on its file system, of which %" PRIu64
				    " are kept free",
				    s->path, bytes, free_bytes, reserve);
	}
	return MSD_OK;
}

/* Walk over the editions that may be removed; with may_write, remove the first of
 * them. */
struct spare {
	struct msd_store *store;
	bool may_write;
	uint64_t bytes; /* upper bound: other editions may share blobs */
	bool has_spared;
};

static msd_err spare_module(void *ctx, const char *name, struct msd_diag *d)
{
	struct spare *spare = ctx;
	struct msd_record r = {0};
	uint64_t bytes = 0;
	msd_err err;

	if (spare->has_spared)
		return MSD_OK;
	err = msd_record_load(spare->store, name, &r, d);
	if (err == MSD_OK)
		bytes = msd_record_spare(&r);
	spare->bytes += bytes;
	if (spare->may_write && bytes > 0) {
		err = msd_record_save(spare->store, name, &r, d);
		spare->has_spared = err == MSD_OK;
	}
	msd_record_finish(&r);
	return err;
}

static msd_err collect_and_check(struct msd_store *s, uint64_t bytes,
				 uint64_t max_bytes, struct msd_diag *d)
{
	struct msd_store_use use;
	msd_err err = msd_store_collect(s, &use, d);

	if (err == MSD_OK)
		err = msd_store_measure(s, &use, d);
	return err == MSD_OK ? check_room(s, &use, bytes, max_bytes, d) : err;
}

/* True if @bytes fit once all removable editions are removed; if not, none is
 * removed. */
static bool would_fit(struct msd_store *s, uint64_t bytes, uint64_t max_bytes)
{
	struct spare spare = {.store = s};
	struct msd_diag d = {0};
	msd_err err = msd_record_each(s, spare_module, &spare, &d);

	if (err == MSD_OK) {
		err = collect_and_check(s,
					bytes > spare.bytes ? bytes - spare.bytes : 0,
					max_bytes, &d);
	}
	msd_diag_finish(&d);
	return err == MSD_OK && spare.bytes > 0;
}

msd_err msd_store_make_room(struct msd_store *s, uint64_t bytes, uint64_t max_bytes,
			    struct msd_diag *d)
{
	struct spare spare = {.store = s, .may_write = true, .has_spared = true};
	struct msd_store_use use;
	msd_err err = msd_store_measure(s, &use, d);

	if (err != MSD_OK || check_room(s, &use, bytes, max_bytes, d) == MSD_OK)
		return err;
	msd_diag_finish(d);
	err = collect_and_check(s, bytes, max_bytes, d);
	if (err != MSD_NO_SPACE || !would_fit(s, bytes, max_bytes))
		return err;
	while (err == MSD_NO_SPACE && spare.has_spared) {
		msd_diag_finish(d);
		spare.has_spared = false;
		err = msd_record_each(s, spare_module, &spare, d);
		if (err == MSD_OK)
			err = collect_and_check(s, bytes, max_bytes, d);
	}
	return err;
}

/* State of one verification. */
struct verify {
	const struct msd_store *store;
	void (*each_fault)(void *ctx, const char *module, const char *text);
	void *ctx;
	uint64_t n_blobs;
};

static void verify_edition(struct verify *v, const char *module, enum msd_ref ref,
			   const struct msd_edition *e)
{
	for (uint32_t i = 0; i < e->n_files; i++) {
		struct msd_diag d = {0};
		const struct msd_edition_file *f = &e->files[i];
		msd_err err = msd_blob_check(v->store, &f->digest, f->bytes, &d);

		v->n_blobs++;

		/* The bytes of a candidate may not have arrived yet. */
		if (err != MSD_OK &&
		    !(ref == MSD_REF_CANDIDATE && err == MSD_NOT_FOUND)) {
			(void)msd_diag_wrap(&d, err, "%s, %s", msd_ref_word(ref),
					    f->name);
			v->each_fault(v->ctx, module, msd_diag_text(&d));
		}
		msd_diag_finish(&d);
	}
}

msd_err msd_store_verify(const struct msd_store *s, const char *name,
			 void (*each_fault)(void *ctx, const char *module,
					    const char *text),
			 void *ctx, uint64_t *ret_n_blobs, struct msd_diag *d)
{
	struct verify v = {.store = s, .each_fault = each_fault, .ctx = ctx};
	struct msd_record r = {0};
	msd_err err = msd_record_load(s, name, &r, d);

	if (err == MSD_NOT_FOUND)
		return err;
	if (err != MSD_OK) {
		each_fault(ctx, name, msd_diag_text(d));
		msd_diag_finish(d);
	}
	for (unsigned ref = 0; err == MSD_OK && ref < MSD_REF_COUNT; ref++) {
		if (r.editions[ref] != NULL)
			verify_edition(&v, name, (enum msd_ref)ref, r.editions[ref]);
	}
	msd_record_finish(&r);
	*ret_n_blobs = v.n_blobs;
	return MSD_OK;
}
