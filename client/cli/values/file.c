/*
 * Reads and writes whole files, "-" for standard input and output.
 *
 * Happy path: open, read to the end into one block, or write all chunks. A name from
 * an untrusted file is opened only below its folder. A file that must never be
 * visible half written is written under a temporary name and renamed.
 */
#include "client/cli/values/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/base/fd_read.h"

#define DEVICE_MAX ((size_t)1 << 20) /* limit of a device; /dev/zero has no end */

msd_err msd_file_join(const char *dir, const char *name,
		      char path[static MSD_PATH_BYTES], struct msd_diag *d)
{
	int n = name[0] == '/' ? snprintf(path, MSD_PATH_BYTES, "%s", name)
			       : snprintf(path, MSD_PATH_BYTES, "%s/%s", dir, name);

	if (n >= 0 && (size_t)n < MSD_PATH_BYTES)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST, "%s: its path is too long", name);
}

static const char *title(const char *path, const char *standard)
{
	return strcmp(path, "-") == 0 ? standard : path;
}

static msd_err read_all(int fd, struct msd_buf *out)
{
	struct stat st;
	const bool is_device =
		fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));

	return msd_fd_read(fd, is_device ? DEVICE_MAX : SIZE_MAX, out);
}

/* Read all of @fd, and close it. @title is for error texts. */
static msd_err read_open(int fd, const char *name, struct msd_buf *ret,
			 struct msd_diag *d)
{
	msd_err err = read_all(fd, ret);

	if (err == MSD_NOMEM) {
		(void)msd_diag_set(d, err, "%s: no memory to read it", name);
	} else if (err == MSD_TOO_LARGE) {
		(void)msd_diag_set(d, err, "%s: an endless device; expected a file",
				   name);
	} else if (err != MSD_OK) {
		(void)msd_diag_set(d, err, "%s: %s", name, strerror(errno));
	}
	if (fd != STDIN_FILENO)
		(void)close(fd);
	return err;
}

msd_err msd_file_read(const char *path, struct msd_buf *ret, struct msd_diag *d)
{
	bool is_stdin = strcmp(path, "-") == 0;
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return msd_diag_set(d, errno == ENOENT ? MSD_NOT_FOUND : MSD_IO,
				    "%s: %s", path, strerror(errno));
	}
	return read_open(fd, title(path, "standard input"), ret, d);
}

msd_err msd_file_read_beneath(const char *dir, const char *name, struct msd_buf *ret,
			      struct msd_diag *d)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, /* do not block on a pipe */
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = folder < 0
			 ? -1
			 : (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
	const int error = errno;

	if (folder >= 0)
		(void)close(folder);
	if (fd >= 0)
		return read_open(fd, name, ret, d);
	if (error == EXDEV || error == ELOOP) {
		return msd_diag_set(d, MSD_REFUSED,
				    "%s: not a file below %s: absolute paths, \"..\" "
				    "and links are not followed",
				    name, dir);
	}
	return msd_diag_set(d, error == ENOENT ? MSD_NOT_FOUND : MSD_IO, "%s/%s: %s",
			    dir, name, strerror(error));
}

static bool write_all(int fd, struct msd_span s)
{
	while (s.n > 0) {
		ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		s.p += n;
		s.n -= (size_t)n;
	}
	return true;
}

msd_err msd_file_write(const char *path, const struct msd_span *pieces, size_t n,
		       struct msd_diag *d)
{
	bool is_stdout = strcmp(path, "-") == 0;
	int fd = STDOUT_FILENO;
	bool ok = true;

	if (!is_stdout) {
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	} else {
		ok = fflush(stdout) == 0; /* keep the order with earlier output */
	}
	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	for (size_t i = 0; i < n && ok; i++)
		ok = write_all(fd, pieces[i]);
	int error = errno;
	if (!is_stdout && close(fd) != 0 && ok) {
		ok = false;
		error = errno;
	}
	if (ok)
		return MSD_OK;
	return msd_diag_set(d, MSD_IO, "%s: %s", title(path, "standard output"),
			    strerror(error));
}

msd_err msd_file_replace(const char *path, struct msd_span bytes, struct msd_diag *d)
{
	char *next = NULL;

	if (asprintf(&next, "%s.new", path) < 0)
		return msd_diag_no_memory(d);
	msd_err err = msd_file_write(next, &bytes, 1, d);
	if (err == MSD_OK && rename(next, path) != 0)
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	if (err != MSD_OK)
		(void)remove(next);
	free(next);
	return err;
}
