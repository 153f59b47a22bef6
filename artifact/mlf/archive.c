/*
 * Unpack an archive into memory. libarchive reads header by header, and each path and
 * type is checked before its data is read. The size of the archive limits the total
 * size. Then the files are sorted, which reveals duplicate paths. Sizes in headers
 * are not trusted: bytes are counted as they are read.
 */
#include "artifact/mlf/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "artifact/mlf/archive_entry.h"
#include "artifact/printable.h"
#include "proto/base/grow.h"

#define TAR_BLOCK 512u
#define STEP_BYTES ((size_t)64 * 1024)

void msd_archive_finish(struct msd_archive *a)
{
	if (a == NULL)
		return;
	for (size_t i = 0; i < a->n; i++) {
		free(a->files[i].path);
		msd_buf_finish(&a->files[i].data);
	}
	free(a->files);
	*a = (struct msd_archive){0};
}

/* libarchive's text of its last failure, made printable. */
static msd_err bad_archive(struct archive *a, struct msd_diag *d)
{
	const char *why = archive_error_string(a);
	char text[MSD_PRINTABLE_MAX];

	if (why == NULL)
		why = "damaged";
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "archive: %s",
			    msd_printable(msd_span_of(why), text));
}

static struct archive *open_archive(struct msd_span bytes)
{
	struct archive *a = archive_read_new();

	if (a == NULL)
		return NULL;
	if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
	    archive_read_support_format_tar(a) != ARCHIVE_OK ||
	    archive_read_open_memory(a, bytes.p, bytes.n) != ARCHIVE_OK) {
		archive_read_free(a);
		return NULL;
	}
	return a;
}

static bool is_plain(struct msd_span bytes)
{
	return bytes.n < 2 || bytes.p[0] != 0x1f || bytes.p[1] != 0x8b;
}

/* The last block of a whole tar file is zero. libarchive detects truncation inside an
 * entry, but not between two entries. */
static bool has_end(struct msd_span bytes)
{
	if (bytes.n < TAR_BLOCK || bytes.n % TAR_BLOCK != 0)
		return false;
	for (size_t i = bytes.n - TAR_BLOCK; i < bytes.n; i++) {
		if (bytes.p[i] != 0)
			return false;
	}
	return true;
}

static msd_err too_much(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "archive: it unpacks to more than an archive of its size "
			    "may");
}

/* Read all data of the current entry, at most @left bytes: the header's size is not
 * trusted. */
static msd_err read_data(struct archive *a, uint64_t left, struct msd_buf *out,
			 struct msd_diag *d)
{
	for (;;) {
		if (!msd_buf_reserve(out, STEP_BYTES))
			return msd_diag_no_memory(d);
		la_ssize_t n = archive_read_data(a, out->p + out->n, STEP_BYTES);
		if (n < 0)
			return bad_archive(a, d);
		if (n == 0)
			return MSD_OK;
		out->n += (size_t)n;
		if (out->n > left)
			return too_much(d);
	}
}

/* Return the slack of the growing buffer: there may be thousands of small files. */
static void trim(struct msd_buf *b)
{
	uint8_t *p = realloc(b->p, b->n > 0 ? b->n : 1);

	if (p != NULL) {
		b->p = p;
		b->cap = b->n > 0 ? b->n : 1;
	}
}

static msd_err add_file(struct msd_archive *ret, const char *path,
			struct msd_archive_file **ret_file, struct msd_diag *d)
{
	if (!msd_grow(&ret->files, ret->n, sizeof(*ret->files)))
		return msd_diag_no_memory(d);
	ret->files[ret->n] = (struct msd_archive_file){.path = strdup(path)};
	if (ret->files[ret->n].path == NULL)
		return msd_diag_no_memory(d);
	*ret_file = &ret->files[ret->n++];
	return MSD_OK;
}

static msd_err read_entry(struct archive *a, struct archive_entry *entry,
			  uint64_t *left, struct msd_archive *ret, struct msd_diag *d)
{
	struct msd_archive_file *file = NULL;
	msd_err err = msd_archive_entry_check_path(entry, d);

	if (err == MSD_OK)
		err = msd_archive_entry_check_type(entry, d);
	if (err != MSD_OK || archive_entry_filetype(entry) == AE_IFDIR)
		return err;
	err = add_file(ret, msd_archive_entry_path(entry), &file, d);
	if (err == MSD_OK)
		err = read_data(a, *left, &file->data, d);
	if (err != MSD_OK)
		return err;
	trim(&file->data);
	*left -= file->data.n;
	return MSD_OK;
}

static int by_path(const void *a, const void *b)
{
	const struct msd_archive_file *x = a;
	const struct msd_archive_file *y = b;

	return strcmp(x->path, y->path);
}

static msd_err sort_files(struct msd_archive *a, struct msd_diag *d)
{
	char text[MSD_PRINTABLE_MAX];

	if (a->n > 1)
		qsort(a->files, a->n, sizeof(*a->files), by_path);
	for (size_t i = 0; i < a->n; i++) {
		const char *path = a->files[i].path;
		struct msd_span s = msd_span_of(path);

		if (s.n == 0 || path[s.n - 1] == '/') {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "archive: a file that is named like a "
					    "folder: %s",
					    msd_printable(s, text));
		}
		if (i > 0 && strcmp(a->files[i - 1].path, path) == 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "archive: two files at %s",
					    msd_printable(s, text));
		}
	}
	return MSD_OK;
}

static uint64_t unpacked_max(struct msd_span bytes)
{
	uint64_t max = MSD_ARCHIVE_FREE_BYTES;

	if (bytes.n > MSD_ARCHIVE_MAX_BYTES / MSD_ARCHIVE_MAX_RATIO)
		return MSD_ARCHIVE_MAX_BYTES;
	max += (uint64_t)bytes.n * MSD_ARCHIVE_MAX_RATIO;
	return max < MSD_ARCHIVE_MAX_BYTES ? max : MSD_ARCHIVE_MAX_BYTES;
}

/*
 * Check the sizes in the headers before allocating memory: otherwise a few MiB that
 * claim gigabytes would be unpacked up to the limit first. The reader reports other
 * errors.
 */
static msd_err check_claims(struct msd_span bytes, struct msd_diag *d)
{
	const uint64_t max = unpacked_max(bytes);
	struct archive *a = open_archive(bytes);
	uint64_t claimed = 0;

	for (size_t n = 0; a != NULL && claimed <= max && n <= MSD_ARCHIVE_MAX_FILES;
	     n++) {
		struct archive_entry *entry;
		const int got = archive_read_next_header(a, &entry);

		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			break;
		if (archive_entry_size(entry) > 0 &&
		    archive_entry_sparse_count(entry) == 0)
			claimed += (uint64_t)archive_entry_size(entry);
	}
	archive_read_free(a);
	return claimed > max ? too_much(d) : MSD_OK;
}

static msd_err read_entries(struct archive *a, struct msd_span bytes,
			    struct msd_archive *ret, struct msd_diag *d)
{
	const uint64_t max = unpacked_max(bytes);
	uint64_t left = max;
	size_t n = 0;

	for (;;) {
		struct archive_entry *entry;
		int got = archive_read_next_header(a, &entry);

		if (got == ARCHIVE_EOF)
			return MSD_OK;
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			return bad_archive(a, d);
		if (++n > MSD_ARCHIVE_MAX_FILES) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "archive: more than %u entries",
					    MSD_ARCHIVE_MAX_FILES);
		}
		/* headers and names count, too, if they are highly compressed */
		if ((uint64_t)archive_filter_bytes(a, 0) > 2 * max)
			return too_much(d);
		msd_err err = read_entry(a, entry, &left, ret, d);
		if (err != MSD_OK)
			return err;
	}
}

msd_err msd_archive_read(struct msd_span bytes, struct msd_archive *ret,
			 struct msd_diag *d)
{
	struct msd_archive files = {0};
	struct archive *a;
	msd_err err;

	if (is_plain(bytes) && !has_end(bytes)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "archive: not a tar file, or truncated: its end "
				    "marker is missing");
	}
	err = is_plain(bytes) ? MSD_OK : check_claims(bytes, d);
	if (err != MSD_OK)
		return err;
	a = open_archive(bytes);
	if (a == NULL) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "archive: not a tar file, plain or gzipped");
	}
	err = read_entries(a, bytes, &files, d);
	archive_read_free(a);
	if (err == MSD_OK)
		err = sort_files(&files, d);
	if (err != MSD_OK) {
		msd_archive_finish(&files);
		return err;
	}
	*ret = files;
	return MSD_OK;
}

const struct msd_archive_file *msd_archive_find(const struct msd_archive *a,
						const char *path)
{
	for (size_t i = 0; i < a->n; i++) {
		if (strcmp(a->files[i].path, path) == 0)
			return &a->files[i];
	}
	return NULL;
}

bool msd_archive_path_is(const char *path, const char *dir, const char *suffix)
{
	size_t n = strlen(path);
	size_t k = strlen(suffix);

	return strncmp(path, dir, strlen(dir)) == 0 && n >= strlen(dir) + k &&
	       strcmp(path + n - k, suffix) == 0;
}

void msd_archive_scan(struct msd_span bytes, bool (*see)(void *ctx, const char *path),
		      void *ctx)
{
	struct archive *a = open_archive(bytes);
	struct archive_entry *entry;
	bool goes_on = true;
	int got = ARCHIVE_OK;

	for (size_t n = 0; a != NULL && goes_on && n < MSD_ARCHIVE_MAX_FILES; n++) {
		got = archive_read_next_header(a, &entry);
		if ((got != ARCHIVE_OK && got != ARCHIVE_WARN) ||
		    (!is_plain(bytes) &&
		     (uint64_t)archive_filter_bytes(a, 0) > MSD_ARCHIVE_FREE_BYTES))
			break;
		if (msd_archive_entry_path(entry) != NULL &&
		    archive_entry_filetype(entry) != AE_IFDIR)
			goes_on = see(ctx, msd_archive_entry_path(entry));
	}
	if (a != NULL)
		archive_read_free(a);
}
