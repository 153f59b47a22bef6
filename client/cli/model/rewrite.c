#include "client/cli/model/rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(int fd, struct msd_span s)
{
	while (s.n > 0) {
		const ssize_t n = write(fd, s.p, s.n);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			s.p += n;
			s.n -= (size_t)n;
		}
	}
	return true;
}

/* Set the owner first: a change of owner clears bits of the mode. */
static bool dress(int fd, const struct stat *as)
{
	struct stat is;

	if (fstat(fd, &is) != 0)
		return false;
	if ((is.st_uid != as->st_uid || is.st_gid != as->st_gid) &&
	    fchown(fd, as->st_uid, as->st_gid) != 0)
		return false;
	return fchmod(fd, as->st_mode & 07777) == 0;
}

/* A rename is durable only after the folder is synced. */
static bool sync_folder(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path ? 1 : 0] = '\0';
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool ok = fd >= 0 && fsync(fd) == 0;
	if (fd >= 0)
		(void)close(fd);
	return ok;
}

/* @real is the path without links; it is modified. */
static bool replace(char *real, char *next, struct msd_span bytes)
{
	struct stat st;
	const int fd = stat(real, &st) == 0 ? mkostemp(next, O_CLOEXEC) : -1;

	if (fd < 0)
		return false;
	bool ok = dress(fd, &st) && write_all(fd, bytes) && fsync(fd) == 0;
	int error = errno;
	if (close(fd) != 0 && ok) {
		ok = false;
		error = errno;
	}
	if (ok && rename(next, real) == 0)
		return sync_folder(real);
	error = ok ? errno : error;
	(void)unlink(next);
	errno = error;
	return false;
}

msd_err msd_rewrite(const char *path, struct msd_span bytes, struct msd_diag *d)
{
	char *real = realpath(path, NULL);
	char *next = NULL;
	msd_err err = MSD_OK;

	if (real != NULL && asprintf(&next, "%s.XXXXXX", real) < 0) {
		err = msd_diag_no_memory(d);
		next = NULL;
	} else if (real == NULL || !replace(real, next, bytes)) {
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	}
	free(next);
	free(real);
	return err;
}
