#ifndef MSD_STORE_BLOB_H
#define MSD_STORE_BLOB_H
/*
 * Bytes in the store, by their digest: written once, read-only ever after. A reader
 * gets them as a sealed memfd that was hashed while it was filled, so that what was
 * checked is what is executed, whatever happens to the disk.
 *
 * Happy path of a write: begin (room is reserved, a partial file is gone on with),
 * write, commit (size and digest checked, on the disk, under its name). Failures: an
 * abort keeps what came for the next begin; wrong bytes are thrown away.
 */
#include "store/digest.h"
#include "store/store.h"

struct msd_blob_writer {
	struct msd_store *store;
	struct msd_digest digest; /* what the bytes must hash to */
	char name[MSD_DIGEST_TEXT];
	uint64_t bytes,
		written; /* in all; so far, those of a partial file among them */
	struct sha256_ctx hash;
	int fd;
};

/** Whether the store has @bytes bytes of @digest; they are not read for this. */
bool msd_blob_exists(const struct msd_store *s, const struct msd_digest *digest,
		     uint64_t bytes);
/** How many bytes the store has under @digest, unread; false: none. */
bool msd_blob_find(const struct msd_store *s, const struct msd_digest *digest,
		   uint64_t *ret_bytes);
/**
 * Start or go on: w->written bytes are there already. Finish with commit or abort.
 * Errors: MSD_NO_SPACE (the disk; nothing is left behind), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_begin(struct msd_blob_writer *w, struct msd_store *s,
				      const struct msd_digest *digest, uint64_t bytes,
				      struct msd_diag *d);
/** The next ones. MSD_TOO_LARGE (more than was said), MSD_NO_SPACE, MSD_IO; abort then.
 */
MSD_MUST_CHECK msd_err msd_blob_write(struct msd_blob_writer *w, struct msd_span bytes,
				      struct msd_diag *d);
/** They are on the disk, or an error and the writer has ended all the same. Errors:
 * MSD_BAD_ARTIFACT (fewer than was said: kept; another digest: thrown away), MSD_IO
 * (thrown away: what fsync did not write is not there). */
MSD_MUST_CHECK msd_err msd_blob_commit(struct msd_blob_writer *w, struct msd_diag *d);
/** End; @keep: what came may be gone on with. */
void msd_blob_abort(struct msd_blob_writer *w, bool keep);

/** What @bytes bytes of @fd from @at on hash to, for who will put them. MSD_IO; @fd has
 * fewer: MSD_BAD_ARTIFACT. */
MSD_MUST_CHECK msd_err msd_blob_hash(int fd, uint64_t at, uint64_t bytes,
				     struct msd_digest *ret, struct msd_diag *d);
/** begin, write and commit of @bytes bytes of @fd from @at on; nothing is written when
 * the store has them whole. Errors: those of the three. */
MSD_MUST_CHECK msd_err msd_blob_put(struct msd_store *s, int fd, uint64_t at,
				    const struct msd_digest *digest, uint64_t bytes,
				    struct msd_diag *d);
/**
 * Append them to the file @fd (a memfd that is not sealed yet), hashed on the way.
 * Errors: MSD_NOT_FOUND, MSD_BAD_ARTIFACT (damaged on the disk: size or digest are
 * others), MSD_NO_SPACE (memory), MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_get(const struct msd_store *s,
				    const struct msd_digest *digest, uint64_t bytes,
				    int fd, struct msd_diag *d);
/** The same without keeping them: whether they are there and whole. */
MSD_MUST_CHECK msd_err msd_blob_check(const struct msd_store *s,
				      const struct msd_digest *digest, uint64_t bytes,
				      struct msd_diag *d);
/**
 * At most @n of its bytes from @from on into @to, unhashed, for who puts them together
 * and hashes the whole elsewhere; *ret of them, 0 at its end and behind it. Errors:
 * MSD_NOT_FOUND, MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_blob_read(const struct msd_store *s,
				     const struct msd_digest *digest, uint64_t from,
				     uint8_t *to, size_t n, size_t *ret,
				     struct msd_diag *d);
/** Forget a blob, for who found it damaged or unused. Not being there is fine. */
MSD_MUST_CHECK msd_err msd_blob_remove(struct msd_store *s,
				       const struct msd_digest *digest,
				       struct msd_diag *d);
/** Call @each for every blob, in no order, until it fails. What is no blob's name is
 * passed over. */
MSD_MUST_CHECK msd_err msd_blob_each(const struct msd_store *s,
				     msd_err (*each)(void *ctx,
						     const struct msd_digest *digest,
						     uint64_t bytes,
						     struct msd_diag *d),
				     void *ctx, struct msd_diag *d);

#endif
