/*
 * Happy path: the directory is created for a writer, locked, its version checked, and
 * its subdirectories opened. Failures: another writer, another version, or other
 * files; then everything is closed, and the directory is unchanged.
 */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/folder.h"

#define VERSION_TEXT "modserd-store 1\n"
#define VERSION_BYTES 64 /* longer than any version text */

/*
 * Two writers would collect each other's files. The kernel releases the lock when the
 * process exits. The lock file is not written, so a store on a read-only disk can
 * still be served, and a disk can be remounted read-only.
 */
static msd_err take_lock(struct msd_store *s, struct msd_diag *d)
{
	msd_err err = msd_folder_file(s->dir, "lock", O_RDONLY | O_CREAT, &s->lock, d);

	if (err != MSD_OK)
		return err;
	if (flock(s->lock, LOCK_EX | LOCK_NB) == 0)
		return MSD_OK;
	if (errno != EWOULDBLOCK)
		return msd_folder_fault("lock", "flock", d);
	return msd_diag_set(
		d, MSD_BUSY,
		"another process writes to it: a daemon has one store, and a "
		"store one daemon");
}

/* Only an empty directory becomes a store: a wrong path may contain foreign files. */
static msd_err refuse_other(void *ctx, const char *name, struct msd_diag *d)
{
	(void)ctx;
	if (strcmp(name, "lock") == 0)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BAD_ARTIFACT,
		"it holds \"%s\" and no file \"version\", so it is no store: "
		"give an empty folder",
		name);
}

static msd_err check_version(struct msd_store *s, struct msd_diag *d)
{
	static const struct msd_span text = {(const uint8_t *)VERSION_TEXT,
					     sizeof(VERSION_TEXT) - 1};
	struct msd_buf found = {0};
	msd_err err = msd_folder_read(s->dir, "version", VERSION_BYTES, &found, d);

	if (err == MSD_NOT_FOUND && s->is_writer) {
		msd_diag_finish(d);
		err = msd_folder_each(s->dir, s->path, refuse_other, NULL, d);
		return err == MSD_OK ? msd_folder_replace(s->dir, "version", text, d)
				     : err;
	}
	if (err == MSD_OK &&
	    (found.n != text.n || memcmp(found.p, text.p, text.n) != 0)) {
		err = msd_diag_set(
			d, MSD_UNSUPPORTED,
			"version: it does not say \"modserd-store 1\", the only "
			"layout that this program knows");
	}
	msd_buf_finish(&found);
	return err;
}

static msd_err open_folders(struct msd_store *s, struct msd_diag *d)
{
	msd_err err = msd_folder_open(s->dir, "sha256", s->is_writer, &s->blobs, d);

	if (err == MSD_OK)
		err = msd_folder_open(s->dir, "partial", s->is_writer, &s->partial, d);
	if (err == MSD_OK)
		err = msd_folder_open(s->dir, "modules", s->is_writer, &s->modules, d);
	if (err == MSD_OK && s->is_writer)
		err = msd_folder_open(s->dir, "arriving", true, &s->arriving, d);
	return err;
}

static msd_err open_parts(struct msd_store *s, struct msd_diag *d)
{
	msd_err err = s->is_writer ? take_lock(s, d) : MSD_OK;

	if (err == MSD_OK)
		err = check_version(s, d);
	return err == MSD_OK ? open_folders(s, d) : err;
}

msd_err msd_store_open(struct msd_store *s, const char *path, enum msd_store_mode mode,
		       struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*s = (struct msd_store){.dir = -1,
				.blobs = -1,
				.partial = -1,
				.arriving = -1,
				.modules = -1,
				.lock = -1,
				.is_writer = mode == MSD_STORE_WRITE};
	s->path = strdup(path);
	if (s->path == NULL)
		return msd_diag_no_memory(d);
	if (s->is_writer && mkdir(path, 0755) != 0 && errno != EEXIST)
		err = msd_folder_fault(path, "mkdir", d);
	if (err == MSD_OK)
		s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (err == MSD_OK && s->dir < 0)
		err = msd_folder_fault(path, "open", d);
	if (err == MSD_OK) {
		err = open_parts(s, d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(d, err, "%s", path);
	}
	if (err != MSD_OK)
		msd_store_close(s);
	return err;
}

msd_err msd_store_check_disk(const struct msd_store *s, struct msd_diag *d)
{
	if (faccessat(s->partial, ".", W_OK, 0) == 0 || errno != EROFS)
		return MSD_OK;
	return msd_folder_fault(s->path, "partial", d);
}

msd_err msd_store_check(const char *path, struct msd_diag *d)
{
	struct msd_store s = {.path = (char *)(uintptr_t)path,
			      .dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};

	if (s.dir < 0) {
		return errno == ENOENT || errno == EACCES
			       ? MSD_OK
			       : msd_folder_fault(path, "open", d);
	}
	msd_err err = check_version(&s, d);
	if (err == MSD_NOT_FOUND) {
		msd_diag_finish(d);
		err = msd_folder_each(s.dir, path, refuse_other, NULL, d);
	}
	(void)close(s.dir);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", path);
}

void msd_store_close(struct msd_store *s)
{
	const int all[] = {s->modules, s->arriving, s->partial,
			   s->blobs,   s->dir,      s->lock};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i] >= 0)
			(void)close(all[i]);
	}
	free(s->path);
	*s = (struct msd_store){.dir = -1,
				.blobs = -1,
				.partial = -1,
				.arriving = -1,
				.modules = -1,
				.lock = -1};
}
