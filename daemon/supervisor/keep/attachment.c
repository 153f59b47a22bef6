#include "daemon/supervisor/keep/attachment.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proto/base/errno_text.h"
#include "store/blob.h"

#define MAX_TEXT_BYTES (1u << 20) /* maximum size of a manifest or its signature */

static msd_err fault(struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	return msd_diag_set(d, MSD_IO, "memory for the attachments of a module: %s",
			    msd_errno_text(errno, text));
}

msd_err msd_attachment_write(struct msd_span text, struct msd_attachment *ret,
			     struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = (struct msd_attachment){.fd = -1};
	if (text.n == 0)
		return MSD_OK;
	const int fd = memfd_create("modserd-paper", MFD_CLOEXEC);
	if (fd < 0)
		return fault(d);
	if (write(fd, text.p, text.n) != (ssize_t)text.n) {
		err = fault(d);
		(void)close(fd);
	} else {
		*ret = (struct msd_attachment){fd, text.n};
	}
	return err;
}

static msd_err read_file(const struct msd_store *s, const struct msd_edition_file *f,
			 struct msd_buf *ret, struct msd_diag *d)
{
	size_t n;

	if (!msd_buf_reserve(ret, (size_t)f->bytes))
		return msd_diag_no_memory(d);
	const msd_err err = msd_blob_read(s, &f->digest, 0, ret->p + ret->n,
					  (size_t)f->bytes, &n, d);
	if (err == MSD_OK)
		ret->n += n;
	return err;
}

/* Append the file of @role; nothing if the edition has no such file. */
static msd_err read_role(const struct msd_store *s, const struct msd_edition *e,
			 enum msd_role role, struct msd_buf *ret, struct msd_diag *d)
{
	for (uint32_t i = 0; i < e->n_files; i++) {
		const struct msd_edition_file *f = &e->files[i];

		if (f->role != role)
			continue;
		if (f->bytes > MAX_TEXT_BYTES) {
			return msd_diag_set(d, MSD_TOO_LARGE, "its %s is too large",
					    f->name);
		}
		return read_file(s, f, ret, d);
	}
	return MSD_OK;
}

bool msd_attachment_read_signature(const struct msd_store *s,
				   const struct msd_edition *e,
				   struct msd_buf *manifest, struct msd_buf *signature)
{
	struct msd_diag d = {0};
	msd_err err = read_role(s, e, MSD_ROLE_MANIFEST, manifest, &d);

	if (err == MSD_OK)
		err = read_role(s, e, MSD_ROLE_SIGNATURE, signature, &d);
	msd_diag_finish(&d);
	if (err == MSD_OK && manifest->n > 0 && signature->n > 0)
		return true;
	msd_buf_finish(manifest);
	msd_buf_finish(signature);
	return false;
}

void msd_attachment_close(struct msd_attachment *paper)
{
	if (paper->bytes > 0)
		(void)close(paper->fd);
	*paper = (struct msd_attachment){.fd = -1};
}
