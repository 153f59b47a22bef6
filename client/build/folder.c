#include "client/build/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact/mlf/archive.h"
#include "client/cli/values/file.h"
#include "proto/base/grow.h"

/* The folder's files: archive entries, and the bytes that they borrow. */
struct folder {
	size_t n_root; /* bytes of the folder's path with the slash */
	struct msd_archive_entry *entries;
	struct msd_buf *bytes;
	size_t n;
	uint64_t total;
};

static void folder_finish(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free((char *)(uintptr_t)f->entries[i].path);
		msd_buf_finish(&f->bytes[i]);
	}
	free(f->entries);
	free(f->bytes);
}

static msd_err add(struct folder *f, const char *path, uint64_t size,
		   struct msd_diag *d)
{
	f->total += size;
	if (f->n == MSD_ARCHIVE_MAX_FILES || f->total > MSD_ARCHIVE_MAX_BYTES) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%.*s: more than %u files or 4 GiB in the folder",
				    (int)f->n_root, path, MSD_ARCHIVE_MAX_FILES);
	}
	char *name = strdup(path + f->n_root);
	if (name == NULL || !msd_grow(&f->entries, f->n, sizeof(*f->entries)) ||
	    !msd_grow(&f->bytes, f->n, sizeof(*f->bytes))) {
		free(name);
		return msd_diag_no_memory(d);
	}
	f->entries[f->n] = (struct msd_archive_entry){.path = name};
	f->bytes[f->n] = (struct msd_buf){0};
	struct msd_buf *b = &f->bytes[f->n++];
	msd_err err = msd_file_read(path, b, d);
	f->entries[f->n - 1].data = (struct msd_span){b->p, b->n};
	return err;
}

static msd_err visit(struct folder *f, const FTSENT *e, struct msd_diag *d)
{
	switch (e->fts_info) {
	case FTS_D:
	case FTS_DP:
		return MSD_OK;
	case FTS_F:
		return add(f, e->fts_path, (uint64_t)e->fts_statp->st_size, d);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return msd_diag_set(d, MSD_IO, "%s: %s", e->fts_path,
				    strerror(e->fts_errno));
	default:
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s: neither a file nor a folder", e->fts_path);
	}
}

/* Checked before its files are read, because a folder given by mistake may be large. */
static msd_err check_folder(const char *path, struct msd_diag *d)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool is_model = fd >= 0 && faccessat(fd, "metadata.json", F_OK, 0) == 0;
	const int cause = errno;

	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(cause));
	(void)close(fd);
	return is_model ? MSD_OK
			: msd_diag_set(d, MSD_BAD_ARTIFACT,
				       "%s: a folder without metadata.json: not an "
				       "unpacked Model Library Format archive (a "
				       "package of tvmc is given as its .tar), "
				       "without model.tar: not a project of microTVM, "
				       "and without saved_model.pb: not a SavedModel",
				       path);
}

static msd_err read_folder(const char *path, struct msd_buf *ret, struct msd_diag *d)
{
	char *root = strdup(path);
	char *const roots[] = {root, NULL};
	struct folder f = {0};
	msd_err err = MSD_OK;

	if (root == NULL)
		return msd_diag_no_memory(d);
	for (size_t n = strlen(root); n > 1 && root[n - 1] == '/'; n--)
		root[n - 1] = '\0';
	f.n_root = strlen(root) + (strcmp(root, "/") != 0);
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (walk == NULL)
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	while (err == MSD_OK) {
		const FTSENT *e = fts_read(walk);

		if (e == NULL)
			break;
		err = visit(&f, e, d);
	}
	if (walk != NULL)
		(void)fts_close(walk);
	if (err == MSD_OK)
		err = msd_archive_write(f.entries, f.n, 0, ret, d);
	folder_finish(&f);
	free(root);
	return err;
}

bool msd_folder_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool has_file(const char *path, const char *name)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool ret = fd >= 0 && faccessat(fd, name, F_OK, 0) == 0;

	if (fd >= 0)
		(void)close(fd);
	return ret;
}

msd_err msd_folder_or_file_read(const char *path, struct msd_buf *ret,
				struct msd_diag *d)
{
	if (!msd_folder_is(path))
		return msd_file_read(path, ret, d);
	if (has_file(path,
		     "saved_model.pb")) /* its variables are read later, by name */
		return msd_file_read_beneath(path, "saved_model.pb", ret, d);
	if (!has_file(path, "metadata.json") && has_file(path, "model.tar"))
		return msd_file_read_beneath(path, "model.tar", ret, d);
	msd_err err = check_folder(path, d);
	return err == MSD_OK ? read_folder(path, ret, d) : err;
}
