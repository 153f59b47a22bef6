#include "daemon/supervisor/edge/upload.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/artifact.h"
#include "daemon/supervisor/edge/edge.h"

msd_err msd_upload_begin(struct msd_session *s, uint64_t bytes, struct msd_upload **ret,
			 struct msd_diag *d)
{
	struct msd_upload *u;
	int fd = -1;

	if (s->n_uploads >= s->edge->limits->max_uploads) {
		return msd_diag_set(d, MSD_BUSY,
				    "%u uploads are the limit of a connection",
				    s->n_uploads);
	}
	msd_err err = msd_artifact_new(bytes, s->edge->limits->max_upload, &fd, d);
	if (err != MSD_OK)
		return err;
	u = calloc(1, sizeof(*u));
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (u == NULL || map == MAP_FAILED) {
		err = msd_diag_no_memory(d);
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
	if (u->map == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the upload is committed already");
	}
	if (offset > u->bytes || bytes > u->bytes - offset) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"a piece of %llu bytes at %llu is outside the upload of %llu",
			(unsigned long long)bytes, (unsigned long long)offset,
			(unsigned long long)u->bytes);
	}
	*ret = u->map + offset;
	return MSD_OK;
}

msd_err msd_upload_commit(struct msd_upload *u, struct msd_diag *d)
{
	if (u->map == NULL) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "the upload is committed already");
	}
	if (u->written < u->bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "commit after %llu of %llu bytes of the upload",
				    (unsigned long long)u->written,
				    (unsigned long long)u->bytes);
	}
	(void)munmap(u->map,
		     u->bytes); /* a file that is mapped writable cannot be sealed */
	u->map = NULL;
	return msd_artifact_seal(u->fd, d);
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
