/*
 * File operations that survive a power failure: afterwards either the old or the new
 * file exists. A replacement is written to another file, synced and renamed; then the
 * directory is synced. Failures: the error names the file and the call, with its
 * errno.
 */
#include "store/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/fd_read.h"

#define FOLDER_MODE 0755
#define FILE_MODE 0644
#define NAME_BYTES 256

msd_err msd_folder_fault(const char *name, const char *what, struct msd_diag *d)
{
	msd_err err = errno == ENOSPC || errno == EDQUOT ? MSD_NO_SPACE
		      : errno == ENOENT                  ? MSD_NOT_FOUND
							 : MSD_IO;

	return msd_diag_set(d, err, "%s: %s: %s", name, what, strerror(errno));
}

msd_err msd_folder_open(int dir, const char *name, bool may_make, int *ret,
			struct msd_diag *d)
{
	if (may_make && mkdirat(dir, name, FOLDER_MODE) == 0) {
		msd_err err = msd_folder_sync(dir, name, d);

		if (err != MSD_OK)
			return err;
	} else if (may_make && errno != EEXIST) {
		return msd_folder_fault(name, "mkdir", d);
	}
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return msd_folder_fault(name, "open", d);
	*ret = fd;
	return MSD_OK;
}

msd_err msd_folder_sync(int folder, const char *name, struct msd_diag *d)
{
	return fsync(folder) == 0 ? MSD_OK : msd_folder_fault(name, "fsync", d);
}

/* Another process holds a lease on the file. The kernel revokes it, and the open
 * waits for that. The opened file must be the one that was checked. */
static int open_leased(int folder, const char *name, int flags)
{
	char path[32];
	struct stat st;
	const int at = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int fd = -1;

	if (at < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	if (fstat(at, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(path, (flags & ~O_CREAT) | O_CLOEXEC);
	const int error = errno;
	(void)close(at);
	errno = error;
	return fd;
}

msd_err msd_folder_file(int folder, const char *name, int flags, int *ret,
			struct msd_diag *d)
{
	struct stat st;
	int fd = openat(folder, name, flags | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
			FILE_MODE);

	if (fd < 0 && errno == EWOULDBLOCK)
		fd = open_leased(folder, name, flags);
	if (fd < 0)
		return msd_folder_fault(name, "open", d);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "%s: damaged on the disk: it is no file", name);
	}
	*ret = fd;
	return MSD_OK;
}

msd_err msd_folder_read(int folder, const char *name, size_t max_bytes,
			struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_buf bytes = {0};
	int fd = -1;
	msd_err err = msd_folder_file(folder, name, O_RDONLY, &fd, d);

	if (err != MSD_OK)
		return err;
	err = msd_fd_read(fd, max_bytes, &bytes);
	if (err == MSD_TOO_LARGE) {
		(void)msd_diag_set(d, err, "%s: more than %zu bytes", name, max_bytes);
	} else if (err == MSD_NOMEM) {
		(void)msd_diag_no_memory(d);
	} else if (err != MSD_OK) {
		err = msd_folder_fault(name, "read", d);
	}
	(void)close(fd);
	if (err != MSD_OK) {
		msd_buf_finish(&bytes);
	} else {
		*ret = bytes;
	}
	return err;
}

msd_err msd_folder_write(int fd, struct msd_span bytes, const char *name,
			 struct msd_diag *d)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return msd_folder_fault(name, "write", d);
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return MSD_OK;
}

static msd_err write_new(int folder, const char *name, struct msd_span bytes,
			 struct msd_diag *d)
{
	int fd = -1;
	msd_err err =
		msd_folder_file(folder, name, O_WRONLY | O_CREAT | O_TRUNC, &fd, d);

	if (err != MSD_OK)
		return err;
	err = msd_folder_write(fd, bytes, name, d);
	if (err == MSD_OK && fsync(fd) != 0)
		err = msd_folder_fault(name, "fsync", d);
	if (close(fd) != 0 && err == MSD_OK)
		err = msd_folder_fault(name, "close", d);
	return err;
}

msd_err msd_folder_replace(int folder, const char *name, struct msd_span bytes,
			   struct msd_diag *d)
{
	char fresh[NAME_BYTES];

	(void)snprintf(fresh, sizeof(fresh), ".%.200s.new", name);
	msd_err err = write_new(folder, fresh, bytes, d);
	if (err == MSD_OK && renameat(folder, fresh, folder, name) != 0)
		err = msd_folder_fault(name, "rename", d);
	if (err != MSD_OK) {
		(void)unlinkat(folder, fresh, 0);
		return err;
	}
	return msd_folder_sync(folder, name, d);
}

msd_err msd_folder_each(int folder, const char *name,
			msd_err (*each)(void *ctx, const char *name,
					struct msd_diag *d),
			void *ctx, struct msd_diag *d)
{
	const struct dirent *entry;
	msd_err err = MSD_OK;
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL) {
		err = msd_folder_fault(name, "open", d);
		if (fd >= 0)
			(void)close(fd);
		return err;
	}
	while (err == MSD_OK && (errno = 0, entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.')
			err = each(ctx, entry->d_name, d);
	}
	if (err == MSD_OK && errno != 0)
		err = msd_folder_fault(name, "read", d);
	(void)closedir(dir);
	return err;
}
