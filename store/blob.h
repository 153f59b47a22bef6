#ifndef MSD_STORE_BLOB_H
#define MSD_STORE_BLOB_H
/*
 * Content-addressed blobs of the store: written once, read-only afterwards. A reader
 * gets a sealed memfd that is hashed while it is filled. So the checked bytes are the
 * executed bytes, even if the disk changes.
 *
 * Happy path of a write: begin (reserve room, resume a partial file), write, commit
 * (check size and digest, sync to disk, rename). Failures: an abort may keep the
 * received bytes for the next begin; wrong bytes are discarded.
 */
#include "store/digest.h"
#include "store/store.h"

struct msd_blob_writer {
	struct msd_store *store;
	struct msd_digest digest; /* required digest of the bytes */
	char name[MSD_DIGEST_TEXT];
	uint64_t bytes,
		written; /* total; written so far, including a resumed partial file */
	struct sha256_ctx hash;
	int fd;
};

/** True if the store has @bytes bytes under @digest; the bytes are not read. */
bool msd_blob_exists(const struct msd_store *s, const struct msd_digest *digest,
		     uint64_t bytes);
/** Size of the blob @digest, which is not read; false if absent. */
bool msd_blob_find(const struct msd_store *s, const struct msd_digest *digest,
		   uint64_t *ret_bytes);
/**
 * Start or resume: w->written bytes already exist. Finish with commit or abort.
 * Errors: MSD_NO_SPACE (disk full; nothing is left behind), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_begin(struct msd_blob_writer *w, struct msd_store *s,
				      const struct msd_digest *digest, uint64_t bytes,
				      struct msd_diag *d);
/**
 * Append bytes. MSD_TOO_LARGE (more than announced), MSD_NO_SPACE, MSD_IO; then call
 * abort.
 */
MSD_MUST_CHECK msd_err msd_blob_write(struct msd_blob_writer *w, struct msd_span bytes,
				      struct msd_diag *d);
/**
 * Make the blob durable. The writer is closed in every case. Errors: MSD_BAD_ARTIFACT
 * (too few bytes: kept; wrong digest: discarded), MSD_IO (discarded: data that fsync
 * failed to write is lost).
 */
MSD_MUST_CHECK msd_err msd_blob_commit(struct msd_blob_writer *w, struct msd_diag *d);
/** Close the writer; @keep: a later begin may resume. */
void msd_blob_abort(struct msd_blob_writer *w, bool keep);

/**
 * Hash @bytes bytes of @fd from offset @at. MSD_IO; MSD_BAD_ARTIFACT if @fd is
 * shorter.
 */
MSD_MUST_CHECK msd_err msd_blob_hash(int fd, uint64_t at, uint64_t bytes,
				     struct msd_digest *ret, struct msd_diag *d);
/**
 * begin, write and commit of @bytes bytes of @fd from offset @at. Nothing is written
 * if the store already has the intact blob. Errors: those of the three.
 */
MSD_MUST_CHECK msd_err msd_blob_put(struct msd_store *s, int fd, uint64_t at,
				    const struct msd_digest *digest, uint64_t bytes,
				    struct msd_diag *d);
/**
 * Append the blob to the file @fd (a memfd that is not sealed yet), and hash it on
 * the way. Errors: MSD_NOT_FOUND, MSD_BAD_ARTIFACT (damaged on disk: size or digest
 * differ), MSD_NO_SPACE (memory), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_get(const struct msd_store *s,
				    const struct msd_digest *digest, uint64_t bytes,
				    int fd, struct msd_diag *d);
/** The same without a copy: check that the blob exists and is intact. */
MSD_MUST_CHECK msd_err msd_blob_check(const struct msd_store *s,
				      const struct msd_digest *digest, uint64_t bytes,
				      struct msd_diag *d);
/**
 * Read at most @n bytes from offset @from into @to, without a hash check: the caller
 * hashes the whole later. *ret is their number, 0 at the end and after it. Errors:
 * MSD_NOT_FOUND, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_read(const struct msd_store *s,
				     const struct msd_digest *digest, uint64_t from,
				     uint8_t *to, size_t n, size_t *ret,
				     struct msd_diag *d);
/** Remove a damaged or unused blob. An absent blob is no error. */
MSD_MUST_CHECK msd_err msd_blob_remove(struct msd_store *s,
				       const struct msd_digest *digest,
				       struct msd_diag *d);
/**
 * Call @each for every blob, unordered, until it fails. Other file names are skipped.
 */
MSD_MUST_CHECK msd_err msd_blob_each(const struct msd_store *s,
				     msd_err (*each)(void *ctx,
						     const struct msd_digest *digest,
						     uint64_t bytes,
						     struct msd_diag *d),
				     void *ctx, struct msd_diag *d);

#endif
