#include "store/blob.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"

#define CHUNK_BYTES ((size_t)64 * 1024) /* on the stack */
#define BLOB_MODE 0444
#define PATH_BYTES (MSD_DIGEST_TEXT + 3) /* "ab/" in front of the digits */

/* A blob's directory is named by its first two digits: one directory with all files
 * would be slow on small file systems. */
static void path_of(const struct msd_digest *digest, char ret[static PATH_BYTES])
{
	char text[MSD_DIGEST_TEXT];

	msd_digest_format(digest, text);
	(void)snprintf(ret, PATH_BYTES, "%.2s/%s", text, text);
}

bool msd_blob_find(const struct msd_store *s, const struct msd_digest *digest,
		   uint64_t *ret_bytes)
{
	char path[PATH_BYTES];
	struct stat st;

	path_of(digest, path);
	if (fstatat(s->blobs, path, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(st.st_mode))
		return false;
	*ret_bytes = (uint64_t)st.st_size;
	return true;
}

bool msd_blob_exists(const struct msd_store *s, const struct msd_digest *digest,
		     uint64_t bytes)
{
	uint64_t is;

	return msd_blob_find(s, digest, &is) && is == bytes;
}

static msd_err hash_partial(struct msd_blob_writer *w, uint64_t bytes,
			    struct msd_diag *d)
{
	uint8_t chunk[CHUNK_BYTES];
	while (w->written < bytes) {
		ssize_t n = pread(w->fd, chunk, sizeof(chunk), (off_t)w->written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_folder_fault(w->name, "read", d);
		if (n == 0) {
			return msd_diag_set(d, MSD_IO, "%s: it is shorter than it was",
					    w->name);
		}
		sha256_update(&w->hash, (size_t)n, chunk);
		w->written += (uint64_t)n;
	}
	return MSD_OK;
}

/* A partial file ends with its last byte, so its size is the resume offset. The space
 * after it is reserved without changing the size. */
static msd_err continue_partial(struct msd_blob_writer *w, struct msd_diag *d)
{
	struct stat st;

	if (fstat(w->fd, &st) != 0)
		return msd_folder_fault(w->name, "stat", d);
	uint64_t there = (uint64_t)st.st_size;
	if (there > w->bytes) {
		if (ftruncate(w->fd, 0) != 0)
			return msd_folder_fault(w->name, "truncate", d);
		there = 0;
	}
	msd_err err = hash_partial(w, there, d);
	if (err == MSD_OK && w->bytes > there &&
	    fallocate(w->fd, FALLOC_FL_KEEP_SIZE, (off_t)there,
		      (off_t)(w->bytes - there)) != 0 &&
	    errno != EOPNOTSUPP)
		err = msd_folder_fault(w->name, "reserve", d);
	if (err == MSD_OK && lseek(w->fd, (off_t)there, SEEK_SET) < 0)
		err = msd_folder_fault(w->name, "seek", d);
	return err;
}

msd_err msd_blob_begin(struct msd_blob_writer *w, struct msd_store *s,
		       const struct msd_digest *digest, uint64_t bytes,
		       struct msd_diag *d)
{
	*w = (struct msd_blob_writer){.store = s, .digest = *digest, .bytes = bytes};
	msd_digest_format(digest, w->name);
	sha256_init(&w->hash);
	w->fd = -1;
	msd_err err = msd_folder_file(s->partial, w->name, O_RDWR | O_CREAT, &w->fd, d);
	if (err != MSD_OK)
		return err;
	err = continue_partial(w, d);
	if (err != MSD_OK)
		msd_blob_abort(w, false);
	return err;
}

msd_err msd_blob_write(struct msd_blob_writer *w, struct msd_span bytes,
		       struct msd_diag *d)
{
	if (bytes.n > w->bytes - w->written) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "%s: more than its %" PRIu64 " bytes", w->name,
				    w->bytes);
	}
	msd_err err = msd_folder_write(w->fd, bytes, w->name, d);
	if (err == MSD_OK) {
		sha256_update(&w->hash, bytes.n, bytes.p);
		w->written += bytes.n;
	}
	return err;
}

static msd_err check(struct msd_blob_writer *w, struct msd_diag *d)
{
	struct msd_digest found;
	char text[MSD_DIGEST_TEXT];

	sha256_digest(&w->hash, sizeof(found.b), found.b);
	if (msd_digest_equal(&found, &w->digest))
		return MSD_OK;
	msd_digest_format(&found, text);
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: the bytes hash to %s", w->name,
			    text);
}

/* Open the directory of a blob; create it if it is missing. */
static msd_err open_folder(struct msd_store *s, const struct msd_digest *digest,
			   int *ret, struct msd_diag *d)
{
	char name[PATH_BYTES];

	path_of(digest, name);
	name[2] = '\0';
	return msd_folder_open(s->blobs, name, true, ret, d);
}

/* An existing blob may have been renamed just before a crash, so sync its directory. */
static msd_err settle(struct msd_store *s, const struct msd_digest *digest,
		      struct msd_diag *d)
{
	int folder;
	msd_err err = open_folder(s, digest, &folder, d);

	if (err != MSD_OK)
		return err;
	err = msd_folder_sync(folder, "sha256", d);
	(void)close(folder);
	return err;
}

/* True if the blob is intact: the disk may have changed it since it was written. */
static bool is_whole(const struct msd_store *s, const struct msd_digest *digest,
		     uint64_t bytes)
{
	return msd_blob_exists(s, digest, bytes) &&
	       msd_blob_check(s, digest, bytes, NULL) == MSD_OK;
}

/* Rename durably: the data is on disk before the name. An intact existing blob is
 * never replaced, because that could not be undone. */
static msd_err publish(struct msd_blob_writer *w, struct msd_diag *d)
{
	struct msd_store *s = w->store;
	int folder;

	if (is_whole(s, &w->digest, w->bytes)) {
		(void)unlinkat(s->partial, w->name, 0);
		return settle(s, &w->digest, d);
	}
	if (fchmod(w->fd, BLOB_MODE) != 0)
		return msd_folder_fault(w->name, "chmod", d);
	if (fsync(w->fd) != 0)
		return msd_folder_fault(w->name, "fsync", d);
	msd_err err = open_folder(s, &w->digest, &folder, d);
	if (err != MSD_OK)
		return err;
	if (renameat(s->partial, w->name, folder, w->name) != 0) {
		err = msd_folder_fault(w->name, "rename", d);
	} else {
		err = msd_folder_sync(folder, w->name, d);
		if (err != MSD_OK)
			(void)unlinkat(folder, w->name, 0);
	}
	(void)close(folder);
	return err;
}

msd_err msd_blob_commit(struct msd_blob_writer *w, struct msd_diag *d)
{
	if (w->written < w->bytes) {
		msd_err err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "%s: %" PRIu64 " of %" PRIu64 " bytes came",
					   w->name, w->written, w->bytes);
		msd_blob_abort(w, true);
		return err;
	}
	msd_err err = check(w, d);
	if (err == MSD_OK)
		err = publish(w, d);
	msd_blob_abort(w, err == MSD_OK);
	return err;
}

void msd_blob_abort(struct msd_blob_writer *w, bool keep)
{
	if (!keep)
		(void)unlinkat(w->store->partial, w->name, 0);
	(void)close(w->fd);
	w->fd = -1;
}

msd_err msd_blob_hash(int fd, uint64_t at, uint64_t bytes, struct msd_digest *ret,
		      struct msd_diag *d)
{
	uint8_t chunk[CHUNK_BYTES];
	struct sha256_ctx hash;

	sha256_init(&hash);
	while (bytes > 0) {
		size_t want = bytes < sizeof(chunk) ? (size_t)bytes : sizeof(chunk);
		ssize_t n = pread(fd, chunk, want, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_folder_fault("artifact", "read", d);
		if (n == 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "%" PRIu64 " bytes are missing", bytes);
		}
		sha256_update(&hash, (size_t)n, chunk);
		at += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	sha256_digest(&hash, sizeof(ret->b), ret->b);
	return MSD_OK;
}

static msd_err copy_in(struct msd_blob_writer *w, int fd, uint64_t at,
		       struct msd_diag *d)
{
	uint8_t chunk[CHUNK_BYTES];
	msd_err err = MSD_OK;

	while (err == MSD_OK && w->written < w->bytes) {
		uint64_t left = w->bytes - w->written;
		size_t want = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t n = pread(fd, chunk, want, (off_t)(at + w->written));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_folder_fault(w->name, "read", d);
		if (n == 0)
			break; /* commit reports the missing bytes */
		err = msd_blob_write(w, (struct msd_span){chunk, (size_t)n}, d);
	}
	return err;
}

msd_err msd_blob_put(struct msd_store *s, int fd, uint64_t at,
		     const struct msd_digest *digest, uint64_t bytes,
		     struct msd_diag *d)
{
	struct msd_blob_writer w;

	if (is_whole(s, digest, bytes))
		return settle(s, digest, d);
	msd_err err = msd_blob_begin(&w, s, digest, bytes, d);
	if (err != MSD_OK)
		return err;
	err = copy_in(&w, fd, at, d);
	if (err == MSD_OK)
		return msd_blob_commit(&w, d);
	msd_blob_abort(&w, false);
	return err;
}

/* If @to is -1, only hash. */
static msd_err copy_out(int from, int to, const char *name, uint64_t bytes,
			struct msd_digest *ret, struct msd_diag *d)
{
	uint8_t chunk[CHUNK_BYTES];
	struct sha256_ctx hash;
	msd_err err = MSD_OK;
	uint64_t n_read = 0;

	sha256_init(&hash);
	while (err == MSD_OK) {
		ssize_t n = pread(from, chunk, sizeof(chunk), (off_t)n_read);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_folder_fault(name, "read", d);
		if (n == 0)
			break;
		n_read += (uint64_t)n;
		if (n_read > bytes)
			break; /* stop: a file that is too long must not fill the memory
				*/
		sha256_update(&hash, (size_t)n, chunk);
		if (to >= 0) {
			err = msd_folder_write(to, (struct msd_span){chunk, (size_t)n},
					       name, d);
		}
	}
	if (err == MSD_OK && n_read != bytes) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "%s: damaged on the disk: it has not its %" PRIu64
				   " bytes",
				   name, bytes);
	}
	sha256_digest(&hash, sizeof(ret->b), ret->b);
	return err;
}

msd_err msd_blob_get(const struct msd_store *s, const struct msd_digest *digest,
		     uint64_t bytes, int fd, struct msd_diag *d)
{
	char path[PATH_BYTES];
	struct msd_digest found;

	path_of(digest, path);
	int from = -1;
	msd_err err = msd_folder_file(s->blobs, path, O_RDONLY, &from, d);
	if (err != MSD_OK)
		return err;
	err = copy_out(from, fd, path, bytes, &found, d);
	(void)close(from);
	if (err == MSD_OK && !msd_digest_equal(&found, digest)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "%s: damaged on the disk: its bytes hash to another "
				   "digest",
				   path);
	}
	return err;
}

msd_err msd_blob_check(const struct msd_store *s, const struct msd_digest *digest,
		       uint64_t bytes, struct msd_diag *d)
{
	return msd_blob_get(s, digest, bytes, -1, d);
}

msd_err msd_blob_read(const struct msd_store *s, const struct msd_digest *digest,
		      uint64_t from, uint8_t *to, size_t n, size_t *ret,
		      struct msd_diag *d)
{
	char path[PATH_BYTES];
	ssize_t got;
	int fd = -1;

	path_of(digest, path);
	msd_err err = msd_folder_file(s->blobs, path, O_RDONLY, &fd, d);
	if (err != MSD_OK)
		return err;
	do {
		got = from <= INT64_MAX ? pread(fd, to, n, (off_t)from) : 0;
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		err = msd_folder_fault(path, "read", d);
	(void)close(fd);
	if (err == MSD_OK)
		*ret = (size_t)got;
	return err;
}

msd_err msd_blob_remove(struct msd_store *s, const struct msd_digest *digest,
			struct msd_diag *d)
{
	char path[PATH_BYTES];

	path_of(digest, path);
	if (unlinkat(s->blobs, path, 0) == 0 || errno == ENOENT)
		return MSD_OK;
	return msd_folder_fault(path, "unlink", d);
}
