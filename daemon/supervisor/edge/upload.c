#include "daemon/supervisor/edge/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

/* A memfd with @bytes reserved: that the memory is not there is said now, not by a
 * SIGBUS. */
static msd_err artifact_new(uint64_t bytes, uint64_t max_bytes, int *ret,
			    struct msd_diag *d)
{
	if (bytes == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "an artifact of 0 bytes");
	if (bytes > max_bytes)
		return msd_diag_set(
			d, MSD_TOO_LARGE,
			"an artifact of %llu bytes is over the limit of %llu "
			"(max-upload)",
			(unsigned long long)bytes, (unsigned long long)max_bytes);
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

static msd_err artifact_seal(int fd, struct msd_diag *d)
{
	if (fcntl(fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
		return msd_diag_set(d, MSD_IO, "sealing the artifact: %s",
				    strerror(errno));
	return MSD_OK;
}

msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes, struct msd_upload **ret,
			 struct msd_diag *d)
{
	struct msd_upload *u;
	int fd = -1;

	if (s->n_uploads >= s->server->limits.max_uploads)
		return msd_diag_set(d, MSD_BUSY,
				    "%u uploads are the limit of a connection",
				    s->n_uploads);
	msd_err err = artifact_new(bytes, s->server->limits.max_upload, &fd, d);
	if (err != MSD_OK)
		return err;
	u = calloc(1, sizeof(*u));
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (u == NULL || map == MAP_FAILED) {
		err = msd_diag_set(d, MSD_NOMEM, "upload: out of memory");
		goto fail;
	}
	*u = (struct msd_upload){.fd = fd, .map = map, .bytes = bytes};
	err = msd_handles_add(&s->handles, MSD_K_UPLOAD, u, &u->handle, d);
	if (err != MSD_OK)
		goto fail;
	s->n_uploads++;
	*ret = u;
	return MSD_OK;
fail:
	if (map != MAP_FAILED)
		(void)munmap(map, bytes);
	(void)close(fd);
	free(u);
	return err;
}

msd_err msd_upload_find(struct msd_session *s, struct msd_handle h,
			struct msd_upload **ret, struct msd_diag *d)
{
	void *object = NULL;
	msd_err err = msd_handles_get(&s->handles, MSD_K_UPLOAD, h, &object, d);

	if (err == MSD_OK)
		*ret = object;
	return err;
}

msd_err msd_upload_place(struct msd_upload *u, uint64_t offset, uint64_t bytes,
			 uint8_t **ret, struct msd_diag *d)
{
	if (u->map == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the upload is committed already");
	if (offset > u->bytes || bytes > u->bytes - offset)
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"a piece of %llu bytes at %llu is outside the upload of %llu",
			(unsigned long long)bytes, (unsigned long long)offset,
			(unsigned long long)u->bytes);
	*ret = u->map + offset;
	return MSD_OK;
}

msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d)
{
	if (u->map == NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the upload is committed already");
	if (u->written < u->bytes)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "commit after %llu of %llu bytes of the upload",
				    (unsigned long long)u->written,
				    (unsigned long long)u->bytes);
	(void)munmap(u->map,
		     u->bytes); /* a file that is mapped writable cannot be sealed */
	u->map = NULL;
	return artifact_seal(u->fd, d);
}

static void forget(struct msd_session *s, struct msd_upload *u)
{
	if (u->map != NULL)
		(void)munmap(u->map, u->bytes);
	msd_handles_remove(&s->handles, u->handle);
	s->n_uploads--;
	free(u);
}

msd_err msd_upload_take(struct msd_session *s, struct msd_upload *u, int *ret_fd,
			struct msd_diag *d)
{
	if (u->map != NULL)
		return msd_diag_set(d, MSD_BAD_REQUEST, "the upload is not committed");
	*ret_fd = u->fd;
	forget(s, u);
	return MSD_OK;
}

void msd_upload_drop(struct msd_session *s, struct msd_upload *u)
{
	(void)close(u->fd);
	forget(s, u);
}

static msd_err copy_file(int from, int to, uint64_t bytes, const char *path,
			 struct msd_diag *d)
{
	while (bytes > 0) {
		ssize_t n =
			sendfile(to, from, NULL, bytes < (1u << 30) ? bytes : 1u << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return msd_diag_set(d, MSD_IO, "%s: %s", path,
					    n == 0 ? "shrank while it was read"
						   : strerror(errno));
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
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		err = msd_diag_set(d, MSD_IO, "%s: not a regular file", path);
	else if (st.st_size == 0)
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: an empty file", path);
	if (err != MSD_OK) {
		(void)close(fd);
		return err;
	}
	*ret = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return MSD_OK;
}

msd_err msd_upload_read_files(const char *const paths[MSD_ARTIFACT_FILES],
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
		err = artifact_new(total, max_bytes, &to, d);
	for (unsigned i = 0; i < MSD_ARTIFACT_FILES && err == MSD_OK; i++)
		err = copy_file(from[i], to, ret_bytes[i], paths[i], d);
	if (err == MSD_OK)
		err = artifact_seal(to, d);
	for (unsigned i = 0; i < MSD_ARTIFACT_FILES; i++)
		if (from[i] >= 0)
			(void)close(from[i]);
	if (err != MSD_OK && to >= 0)
		(void)close(to);
	if (err == MSD_OK)
		*ret_fd = to;
	return err;
}
