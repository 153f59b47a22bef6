#include "daemon/supervisor/edge/artifact.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

msd_err msd_artifact_new(uint64_t bytes, uint64_t max_bytes, int *ret,
			 struct msd_diag *d)
{
	if (bytes == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "an artifact of 0 bytes");
	if (bytes > max_bytes) {
		return msd_diag_set(
			d, MSD_TOO_LARGE,
			"an artifact of %llu bytes is over the limit of %llu "
			"(max-upload)",
			(unsigned long long)bytes, (unsigned long long)max_bytes);
	}
	int fd = memfd_create("modserd-artifact", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return msd_diag_set(d, MSD_NO_SPACE, "artifact: %s", strerror(errno));
	if (ftruncate(fd, (off_t)bytes) != 0 ||
	    fallocate(fd, 0, 0, (off_t)bytes) != 0) {
		msd_err err =
			msd_diag_set(d, MSD_NO_SPACE, "an artifact of %llu bytes: %s",
				     (unsigned long long)bytes, strerror(errno));
		(void)close(fd);
		return err;
	}
	*ret = fd;
	return MSD_OK;
}

msd_err msd_artifact_seal(int fd, struct msd_diag *d)
{
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
		return msd_diag_set(d, MSD_IO, "sealing the artifact: %s",
				    strerror(errno));
	}
	return MSD_OK;
}

static msd_err copy_file(int from, int to, uint64_t bytes, const char *path,
			 struct msd_diag *d)
{
	while (bytes > 0) {
		ssize_t n =
			sendfile(to, from, NULL, bytes < (1u << 30) ? bytes : 1u << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			return msd_diag_set(d, MSD_IO, "%s: %s", path,
					    n == 0 ? "shrank while it was read"
						   : strerror(errno));
		}
		bytes -= (uint64_t)n;
	}
	return MSD_OK;
}

static msd_err open_file(const char *path, int *ret, uint64_t *ret_bytes,
			 struct msd_diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	msd_err err = MSD_OK;

	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		err = msd_diag_set(d, MSD_IO, "%s: not a regular file", path);
	} else if (st.st_size == 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: an empty file", path);
	}
	if (err != MSD_OK) {
		(void)close(fd);
		return err;
	}
	*ret = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return MSD_OK;
}

msd_err msd_artifact_of_files(const char *const paths[MSD_ARTIFACT_FILES],
			      uint64_t max_bytes, int *ret_fd,
			      uint64_t ret_bytes[MSD_ARTIFACT_FILES],
			      struct msd_diag *d)
{
	int from[MSD_ARTIFACT_FILES] = {-1, -1, -1};
	uint64_t total = 0;
	int to = -1;
	msd_err err = MSD_OK;

	for (unsigned i = 0; i < MSD_ARTIFACT_FILES && err == MSD_OK; i++) {
		ret_bytes[i] = 0;
		if (paths[i] != NULL)
			err = open_file(paths[i], &from[i], &ret_bytes[i], d);
		total += ret_bytes[i];
	}
	if (err == MSD_OK)
		err = msd_artifact_new(total, max_bytes, &to, d);
	for (unsigned i = 0; i < MSD_ARTIFACT_FILES && err == MSD_OK; i++)
		err = copy_file(from[i], to, ret_bytes[i], paths[i], d);
	if (err == MSD_OK)
		err = msd_artifact_seal(to, d);
	for (unsigned i = 0; i < MSD_ARTIFACT_FILES; i++) {
		if (from[i] >= 0)
			(void)close(from[i]);
	}
	if (err != MSD_OK && to >= 0)
		(void)close(to);
	if (err == MSD_OK)
		*ret_fd = to;
	return err;
}
